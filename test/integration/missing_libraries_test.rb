# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/certificates"
require_relative "../support/hidden_shared_libraries"

# A machine without the shared libraries that were there when the gem was compiled, as the last stage of a container image.
class MissingLibrariesTest < Minitest::Test
  LIBURING = "liburing.so.2"
  LIBSSL = "libssl.so.3"
  LIBZ = "libz.so.1"
  ALL = [LIBURING, LIBSSL, LIBZ].freeze
  OPTIONAL = /lib(?:uring|ssl|crypto|z)\.so/
  LIBURING_IS_MISSING = %r{/nowhere/hidden\.so: .* \(Debian: apt-get install liburing2\)}
  NOT_FOUND = "/nowhere/hidden.so: cannot open shared object file: No such file or directory"
  TEXTS = { LIBURING => "without io_uring: #{NOT_FOUND} (Debian: apt-get install liburing2)",
            LIBSSL => "without TLS and WebSockets: #{NOT_FOUND} (Debian: apt-get install libssl3)",
            LIBZ => "without compression of WebSocket messages: #{NOT_FOUND} (Debian: apt-get install zlib1g)" }.freeze
  HANDSHAKE = "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n" \
              "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n"

  def setup
    skip "libraries are loaded on Linux alone" unless RUBY_PLATFORM.include?("linux")
    skip "the extension has not all of them" unless BACKENDS.include?("io_uring")
  end

  def test_the_extension_needs_none_of_them
    needed, = Open3.capture2("readelf", "-d", $LOADED_FEATURES.grep(%r{/upwell\.so\z}).first)

    assert_match(/NEEDED/, needed)
    refute_match OPTIONAL, needed
  end

  def test_a_server_starts_without_them_and_the_log_tells_once
    [[], %w[--workers 2]].each do |arguments|
      serve(ALL, *arguments) do |server|
        assert_equal "epoll", server.lines.last[/\((\w+),/, 1]
        assert_equal(TEXTS.values, server.lines.filter_map { |line| line[/without .*/] })
        assert_match(%r{\AHTTP/1\.1 200 }, answer(server, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"))
      end
    end
  end

  def test_a_server_of_files_starts_without_them
    Dir.mktmpdir do |folder|
      File.write(File.join(folder, "a.txt"), "text")
      HiddenSharedLibraries.open(*ALL) do |environment|
        ServerProcess.open(app: folder, command: %w[static], environment: without_choice(environment)) do |server|
          assert_match(/\(epoll, /, server.lines.last)
          assert_match(/\r\n\r\ntext\z/, answer(server, "GET /a.txt HTTP/1.1\r\nHost: a\r\n\r\n"))
        end
      end
    end
  end

  def test_the_log_says_nothing_of_io_uring_where_another_backend_was_asked_for
    serve([LIBURING], "--backend", "poll") { |server| assert_empty(server.lines.grep(/without/)) }
  end

  def test_without_zlib_messages_of_websockets_go_out_as_they_are
    serve([LIBZ], app: "websocket_echo.ru") do |server|
      head = answer(server, HANDSHAKE)

      assert_match(%r{\AHTTP/1\.1 101 }, head)
      refute_match(/permessage-deflate/, head)
    end
  end

  def test_tls_without_openssl_is_refused_with_one_sentence
    bundle = Certificates.authority.issue("localhost").bundle
    arguments = ["--secure", "--cert-file", bundle, "-p", "0"]
    [[*arguments, File.join(ServerProcess::APPS, "app.ru")], ["static", *arguments, "."]].each do |command|
      _output, error, status = run_hidden([LIBSSL], *ServerProcess.command(*command))

      assert_equal 1, status.exitstatus, error
      assert_match(%r{\Aupwell.*: TLS needs OpenSSL, which is missing: /nowhere/hidden.so: .* \(Debian: [^)]*\); install it\n\z}, told(error))
    end
  end

  def test_check
    output, error, status = run_hidden(ALL, *ServerProcess.command("--check"))

    assert_predicate status, :success?, error
    assert_match(/^  io_uring +compiled in, but does not work here: #{LIBURING_IS_MISSING}$/, output)
    assert_match(/^  epoll +works$/, output)
    TEXTS.values_at(LIBSSL, LIBZ).each { |text| assert_includes(output, "  missing         #{text.delete_prefix("without ")}\n") }
  end

  def test_check_says_nothing_where_all_are_there
    output, = run_hidden([], *ServerProcess.command("--check"))

    refute_match(/missing/, output)
  end

  def test_a_scheduler
    output, error, = run_hidden(ALL, RbConfig.ruby, "-I#{ServerProcess::ROOT}/lib", "-rupwell", "-e", <<~RUBY)
      puts Upwell::Scheduler.new.backend
      Fiber.set_scheduler(Upwell::Scheduler.new)
      Fiber.schedule { sleep(0.001) && puts("woken") }
      Fiber.scheduler.run
      Upwell::Scheduler.new(backend: "io_uring")
    RUBY

    assert_equal "epoll\nwoken\n", output
    assert_match(/backend io_uring does not work here: #{LIBURING_IS_MISSING}; choose another: epoll, poll/, error)
  end

  private

  def serve(hidden, *arguments, **options, &block)
    HiddenSharedLibraries.open(*hidden) do |environment|
      ServerProcess.open(*arguments, environment: without_choice(environment), **options, &block)
    end
  end

  def run_hidden(hidden, *command)
    HiddenSharedLibraries.open(*hidden) { |environment| Open3.capture3(without_choice(environment), *command) }
  end

  # Or the backend of the tests would be that of the process.
  def without_choice(environment)
    BundleGemPaths.environment_without_rubygems("UPWELL_BACKEND" => nil, **environment)
  end

  def told(output)
    output.lines.grep_v(/ without /).join
  end

  # The first bytes that the server sends, up to the end of a head and a body that came with it.
  def answer(server, request)
    Socket.tcp("127.0.0.1", server.port) do |socket|
      socket.write(request)
      Timeout.timeout(ServerProcess::LINE_MAX) { socket.readpartial(65_536) }
    end
  end
end
