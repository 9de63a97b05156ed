# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/retrying_client"
require_relative "../support/tls_client"
require_relative "../system_faults/small_file_system"

# What the server refuses by itself never reaches the application, whose log so does not tell of it: the server's does.
class RefusedRequestsLogTest < Minitest::Test
  ACCESS_LINE = /\A127\.0\.0\.1 - - \[.*?\] "(.*?)(?: HTTP\/1\.1)?" (\d{3}) \d+ "-" "-"$/
  LINE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ upwell\[(\d+)\]: refused 127\.0\.0\.1 "(.*)" (\d{3}) (.*)$/
  LENGTH = "POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: "
  REFUSED = {
    "GET /bad HTTP/1.1\r\nHost : a\r\n\r\n" => ["GET /bad", "400", "Bad Request"],
    "GET /late HTTP/1.1\r\nHo" => ["GET /late", "408", "Request Timeout"],
    "#{LENGTH}5\r\n\r\nabc" => ["POST /upload", "408", "Request Timeout"],
    "#{LENGTH}5000\r\n\r\n" => ["POST /upload", "413", "Content Too Large"],
    "GET /x HTTP/1.1\r\nHost: a\r\nX: #{"x" * 3000}\r\n\r\n" => ["GET /x", "431", "Request Header Fields Too Large"],
    "GET /new HTTP/2.0\r\n\r\n" => ["GET /new", "505", "HTTP Version Not Supported"],
    "\x16\x03\x01\r\n\r\n" => ['\x16\x03\x01', "400", "Bad Request"]
  }.freeze
  TIMEOUT = 0.3
  LIMITS = %W[--head-timeout #{TIMEOUT} --body-timeout #{TIMEOUT} --body-bytes-max 1000 --head-bytes-max 2000].freeze
  PATIENT_LIMITS = %w[--body-memory-bytes-max 4096].freeze
  UPLOAD_BYTES = 20_000 # more than is kept in memory
  MANY = 100
  LINES_PER_SECOND = 10

  def each_server(environment = {})
    limits = environment.empty? ? LIMITS : PATIENT_LIMITS
    each_backend_and_mode do |backend, mode|
      ServerProcess.open("--backend", backend, "--mode", mode, *limits, environment: environment) { |server| yield server }
    end
  end

  def refuse(server, text)
    RetryingClient.request(server.port, text, TIMEOUT).status
  end

  def test_the_log_tells_who_was_refused_what_and_why
    each_server do |server|
      REFUSED.each do |text, expected|
        assert_equal expected[1], refuse(server, text).to_s
        assert_equal [server.pid.to_s, *expected], server.await(LINE).captures
      end
    end
  end

  def test_an_attacker_does_not_fill_the_disk
    each_server do |server|
      MANY.times { refuse(server, "x\r\n\r\n") }
      told = left_out = 0
      (count = left_out_in(server)) ? left_out += count : told += 1 while told + left_out < MANY
      assert_operator told, :<, MANY
      assert_equal MANY, left_out + told
    end
  end

  # Once a minute, however many uploads fail.
  def test_the_log_tells_why_an_upload_cannot_be_kept
    skip "no file system can be mounted" unless SmallFileSystem.mountable?

    Dir.mktmpdir do |folder|
      each_server("TMPDIR" => folder) do |server|
        on_full_disk(folder) { 3.times { assert_equal 503, upload(server) } }
        assert_equal 200, upload(server)
        assert_why(server, /cannot store a request body in #{folder}: No space left on device; the client gets 503; set TMPDIR/)
      end
    end
  end

  # By a reset or by the end of the room, amid the content. The room is the disk's, whose size the next uploads need several times.
  def test_an_upload_that_fails_gives_back_its_file
    skip "no file system can be mounted" unless SmallFileSystem.mountable?

    BACKENDS.product([false, true]) do |backend, tls|
      with_small_disk do |folder|
        options = [*PATIENT_LIMITS, *(Certificates.options if tls)]
        ServerProcess.open("--backend", backend, *options, environment: { "TMPDIR" => folder }) do |server|
          assert_equal 200, upload(server, tls: tls)
          before = server.descriptors
          4.times { reset_amid_upload(server, folder, tls) }
          2.times { assert_equal 503, upload(server, 2_000_000, tls: tls) }
          4.times { assert_equal 200, upload(server, tls: tls), "#{backend}, TLS: #{tls}" }
          await("end of the descriptors beyond #{before}") { server.descriptors <= before }
        end
      end
    end
  end

  def with_small_disk
    Dir.mktmpdir do |folder|
      disk = SmallFileSystem.new(folder)
      yield folder
    ensure
      disk&.unmount
    end
  end

  # Some of it is on the disk by then.
  def reset_amid_upload(server, folder, tls)
    (tls ? TLSClient : RawClient).open(server.port) do |client|
      client.write("#{LENGTH}#{2 * UPLOAD_BYTES}\r\n\r\n#{"x" * UPLOAD_BYTES}")
      await("file of the content") { holds_file?(server, folder) }
      (tls ? client.tcp : client.socket).setsockopt(Socket::Option.linger(true, 0))
      (tls ? client.tcp : client.socket).close
    end
    await("end of the file of the content") { !holds_file?(server, folder) }
  end

  def holds_file?(server, folder)
    server.open_files.any? { |file| file.include?(folder) }
  rescue Errno::ENOENT # one was closed meanwhile
    retry
  end

  def await(what)
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + RawClient::READ_MAX
    until yield
      flunk "there is no #{what}" if Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline
      sleep 0.005
    end
  end

  def test_a_missing_folder_for_uploads_is_told_at_the_start_and_when_it_is_needed
    each_server("TMPDIR" => "/nowhere") do |server|
      assert_match(/upwell\[\d+\]: the temporary directory \/nowhere does not exist: .*; set TMPDIR to a writable directory$/, server.lines.join)
      assert_equal 503, upload(server)
      assert_why(server, /cannot store a request body in \/nowhere: No such file or directory; the client gets 503; set TMPDIR/)
    end
  end

  def on_full_disk(folder)
    disk = SmallFileSystem.new(folder)
    disk.fill
    yield
  ensure
    disk&.unmount
  end

  def upload(server, length = UPLOAD_BYTES, tls: false)
    text = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: #{length}\r\n\r\n#{"x" * length}"
    (tls ? TLSClient : RawClient).request(server.port, text).status
  end

  # The line, and no other like it before the next one of another kind.
  def assert_why(server, pattern)
    server.await(pattern)
    refuse(server, "x\r\n\r\n")
    server.await(/400 Bad Request/)
    assert_equal 1, server.lines.join.scan("cannot store a request body").size
  end

  # @return [Integer, nil] nil when the next line tells of one that was refused
  def left_out_in(server)
    server.await(/: refused (\d+) more requests; |#{LINE}/)[1]&.to_i
  end

  def test_the_access_log_of_files_tells_it_too
    Dir.mktmpdir do |dir|
      log = File.join(dir, "log")
      refused = REFUSED.reject { |_, (_, status)| status == "413" } # what `upwell static` is sent is bounded already
      ServerProcess.open("--access-log", log, *LIMITS - %w[--body-bytes-max 1000], app: dir, command: ["static"]) do |server|
        refused.each_key { |text| refuse(server, text) }
        server.stop
        lines = File.readlines(log).map { |line| line.match(ACCESS_LINE)&.captures }
        assert_equal(refused.values.map { |line, status| [line, status] }, lines)
      end
    end
  end
end
