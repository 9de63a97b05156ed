# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/tls_client"

# Certificates that change while clients come and go; sessions that are resumed, whichever worker the client meets.
class TLSReloadTest < Minitest::Test
  CLIENTS = 4
  PATIENCE = 60 # seconds
  ROUNDS = 2

  def setup
    @folder = Dir.mktmpdir
    @cert, @key = %w[cert.pem key.pem].map { |name| File.join(@folder, name) }
    @old, @new = %w[old new].map { |name| Certificates.authority.issue("localhost", "127.0.0.1", "#{name}.example") }
    install(@old)
  end

  def teardown
    FileUtils.rm_rf(@folder)
  end

  def install(issued)
    File.write(@cert, issued.certificate.to_pem)
    File.write(@key, issued.key.private_to_pem, perm: 0o600)
  end

  def open_server(*options, **settings, &block)
    ServerProcess.open("-s", "-c", @cert, "-k", @key, *options, **settings, &block)
  end

  def served(server)
    TLSClient.open(server.port) { |client| client.socket.peer_cert.to_der }
  end

  def await
    Timeout.timeout(PATIENCE) { sleep 0.01 until yield }
  end

  # Of each worker: the kernel decides whom a client meets.
  def await_certificate(server, issued)
    await { Array.new(10) { served(server) }.uniq == [issued.certificate.to_der] }
  end

  # Clients that ask again and again, on new connections and on kept ones, while the block runs.
  #
  # @return [Integer] how many were answered
  def under_load(server)
    ended = false
    answered = Queue.new
    @clients = Array.new(CLIENTS) { Thread.new { visit(server, answered) until ended } }
    @clients.each { |thread| thread.report_on_exception = false }
    yield answered
    ended = true
    @clients.each(&:value) # raises for a request that failed
    answered.size
  ensure
    ended = true
  end

  def visit(server, answered)
    TLSClient.open(server.port) do |client|
      3.times do |number|
        client.write("GET / HTTP/1.1\r\nHost: a\r\n#{"Connection: close\r\n" if number == 2}\r\n")
        response = client.response
        break if response.nil? && number.positive? # a worker that goes does not wait for long on a kept connection

        assert_equal "Hello World", response.body
        answered << 1
      end
    end
  end

  def await_more(answered)
    count = answered.size
    await { @clients.each { |thread| thread.join(0) } && answered.size >= count + (10 * CLIENTS) }
  end

  def test_sighup_under_load
    [%w[-w 0 --mode fibers], %w[-w 2 --mode threads:2]].product(BACKENDS) do |options, backend|
      install(@old)
      open_server("--backend", backend, *options) do |server|
        kept = TLSClient.new(server.port)
        under_load(server) do |answered|
          ROUNDS.times do |round|
            install(issued = round.even? ? @new : @old)
            server.signal("HUP")
            await_certificate(server, issued)
            await_more(answered)
          end
        end
        kept.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        assert_equal [@old.certificate.to_der, "Hello World"], [kept.socket.peer_cert.to_der, kept.response.body]
        assert_predicate server.stop, :success?
      ensure
        kept&.close
      end
    end
  end

  def test_files_too
    Dir.mktmpdir do |root|
      File.write(File.join(root, "a"), "0123456789")
      open_server("--threads", "2", app: root, command: ["static"]) do |server|
        install(@new)
        server.signal("HUP")
        await_certificate(server, @new)
        assert_equal "0123456789", TLSClient.get(server.port, "/a").body
      end
    end
  end

  def test_what_is_wrong_is_logged_and_the_old_ones_stay
    [["-w", "0"], ["-w", "1"]].each do |workers|
      install(@old)
      open_server(*workers) do |server|
        File.write(@key, @new.key.private_to_pem)
        server.signal("HUP")
        assert_match(/the server keeps the old certificates, because .*#{@key}/, server.await(/keeps the old certificates/).string)
        assert_equal @old.certificate.to_der, served(server)
        install(@new)
        server.signal("HUP")
        await_certificate(server, @new)
      end
    end
  end

  # Nobody waits for whoever might write to it.
  def test_a_pipe_in_the_place_of_a_file
    open_server do |server|
      FileUtils.rm(@key)
      File.mkfifo(@key)
      server.signal("HUP")
      assert_match(/#{@key} holds no unencrypted private key/, server.await(/keeps the old certificates/).string)
      assert_equal @old.certificate.to_der, served(server)
      assert_predicate server.stop, :success?
    end
  end

  def open_vouched(response, &block)
    file = File.join(@folder, "configuration.rb")
    File.write(file, "secure\ncertificate '#{@cert}', key: '#{@key}', ocsp: '#{response}'")
    ServerProcess.open("-C", file, &block)
  end

  def stapled?(server)
    output, = Open3.capture2e("openssl", "s_client", "-connect", "127.0.0.1:#{server.port}", "-status", stdin_data: "")
    assert_match(/OCSP response:/, output)
    output.include?("Cert Status: good")
  end

  def test_an_ocsp_response_is_renewed
    response = Certificates.authority.vouch_for(@old, until_seconds: -60)
    open_vouched(response) do |server|
      assert_match(/#{response} has expired, so the server does not send it/, server.lines.join)
      refute stapled?(server)
      Certificates.authority.vouch_for(@old)
      server.signal("HUP")
      await { stapled?(server) }
      Certificates.authority.vouch_for(@old, until_seconds: -60)
      server.signal("HUP")
      server.await(/#{response} has expired/)
      await { !stapled?(server) }
      File.write(response, "no response")
      server.signal("HUP")
      server.await(/the server keeps the old certificates, because the new ones cannot be used: #{response} holds no OCSP response/)
      assert_equal @old.certificate.to_der, served(server)
    end
  end

  def seen_to_expire?(seconds)
    open_vouched(Certificates.authority.vouch_for(@old, until_seconds: seconds)) do |server|
      stapled?(server).tap { |seen| await { !stapled?(server) } if seen }
    end
  end

  # Nobody reads the file again meanwhile. On a loaded machine it may have expired before it is looked at.
  def test_an_ocsp_response_that_expires_is_stapled_no_longer
    assert([2, 8, 20].any? { |seconds| seen_to_expire?(seconds) })
  end

  # Workers that come later find what the supervisor has read.
  def test_a_phased_restart_under_load
    BACKENDS.each do |backend|
      install(@old)
      open_server("--backend", backend, "-w", "2") do |server|
        before = server.workers
        under_load(server) do |answered|
          install(@new)
          server.signal("HUP")
          await_certificate(server, @new)
          server.signal("USR1")
          await { server.workers.size == 2 && !server.workers.intersect?(before) }
          await_more(answered)
        end
        assert_equal @new.certificate.to_der, served(server)
        assert_predicate server.stop, :success?
      end
    end
  end

  # @return [OpenSSL::SSL::Session] after it, to be resumed
  def session_of(server, session = nil, **settings)
    sessions = []
    client = TLSClient.new(server.port, session: session, **settings) { |ticket| sessions << ticket }
    client.write("GET /pid HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    (@pids ||= []) << client.response.body
    (@reused ||= []) << client.socket.session_reused?
    sessions.last || client.socket.session
  ensure
    client&.close
  end

  def test_sessions_are_resumed_by_all_workers_and_after_renewal
    %i[TLS1_2 TLS1_3].each do |version|
      @pids = @reused = nil
      install(@old)
      open_server("-w", "2") do |server|
        settings = { max_version: OpenSSL::SSL.const_get("#{version}_VERSION") }
        session = session_of(server, **settings)
        session = session_of(server, session, **settings) until @pids.uniq.size == 2
        resume_after_renewal(server, session, settings)
        refute @reused.shift
        assert_equal [true], @reused.uniq
      end
    end
  end

  def resume_after_renewal(server, session, settings)
    before = server.workers
    install(@new)
    server.signal("HUP")
    await_certificate(server, @new)
    session = session_of(server, session, **settings)
    server.signal("USR1")
    await { server.workers.size == 2 && !server.workers.intersect?(before) }
    session_of(server, session, **settings)
  end
end
