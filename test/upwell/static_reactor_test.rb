# frozen_string_literal: true

require_relative "../test_helper"

class StaticReactorTest < Minitest::Test
  def setup
    @root = Dir.mktmpdir
    File.write(File.join(@root, "a.txt"), "0123456789")
  end

  def teardown
    FileUtils.rm_rf(@root)
  end

  def settings(values = {}, **changes)
    configured = Upwell::StaticConfiguration.new(values, environment: {}).reactor_settings
    configured.merge(media_types: [["html", "text/html"], ["txt", "text/plain"]], access_log: nil, **changes)
  end

  def test_one_whose_initialization_failed_does_not_run
    reactor = Upwell::StaticReactor.allocate
    assert_raises(KeyError) { reactor.send(:initialize, @root, settings.except(:cache_control)) }
    assert_match(/not initialized/, assert_raises(Upwell::Error) { reactor.run }.message)
  end

  # Runs a reactor, and a client beside it.
  def serve(reactor)
    TCPServer.open("127.0.0.1", 0) do |socket|
      reactor.listen(socket)
      client = Thread.new { yield socket.addr[1] }
      client.report_on_exception = false
      Thread.new { client.join && reactor.drain(5) }.report_on_exception = false
      finished = reactor.run
      [finished, client.value]
    ensure
      client&.kill
    end
  end

  def ask(client)
    client.write("GET /a.txt HTTP/1.1\r\nHost: test\r\n\r\n")
    client.response
  end

  # @yieldparam port [Integer]
  # @yieldparam pid [Integer]
  # @yieldparam statuses [IO] how the processes have ended that it forks when it gets a signal
  def with_forking_server(backend)
    reader, writer = IO.pipe
    TCPServer.open("127.0.0.1", 0) do |socket|
      pid = fork { serve_and_fork(socket, backend, writer) }
      yield socket.addr[1], pid, reader
      Process.kill("TERM", pid)
      assert_predicate Process.wait2(pid).last, :success?
      pid = nil
    ensure
      Process.kill("KILL", pid) && Process.wait(pid) if pid
    end
  end

  def serve_and_fork(socket, backend, writer)
    tell_end = ->(pid) { Process.wait(pid) && writer.syswrite("#{Process.last_status.exitstatus}\n") }
    reactor = Upwell::StaticReactor.new(@root, settings(backend: backend, access_log: File.open(File::NULL, "w")))
    trap("WINCH") { fork.then { |pid| pid ? tell_end.call(pid) : exit(6) } }
    trap("URG") { fork.then { |pid| pid ? tell_end.call(pid) : [reactor.drain(5, true), reactor.stop] } }
    trap("TERM") { reactor.drain(5) }
    reactor.listen(socket)
    exit!(reactor.run)
  rescue SystemExit => e
    exit!(e.status)
  end

  def test_it_serves_once_on_every_backend
    BACKENDS.each do |backend|
      reactor = Upwell::StaticReactor.new(@root, settings(backend: backend))
      finished, response = serve(reactor) { |port| RawClient.get(port, "/a.txt") }
      assert_equal [backend, true, "0123456789", ["text/plain"]], [reactor.backend, finished, response.body, response.headers["content-type"]]
      assert_raises(Upwell::Error) { reactor.run }
    end
  end

  def test_what_it_was_told_survives_the_collector
    settings # loads what it needs: under stress that takes minutes
    GC.stress = true
    reactor = Upwell::StaticReactor.new(@root.dup, settings({ cache_control: +"max-age=1", spa: +"a.txt" }))
    GC.stress = false
    bodies = serve(reactor) do |port|
      Array.new(5) do |i|
        RUBY_VERSION < "3.2" ? GC.start : GC.compact # which breaks Ruby 3.1's own table of methods
        RawClient.get(port, "/path/#{i}").then { |response| [response.body, response.headers.values_at("content-type", "cache-control")] }
      end
    end.last
    assert_equal [["0123456789", [["text/plain"], ["max-age=1"]]]] * 5, bodies
  ensure
    GC.stress = false
  end

  def test_a_thread_that_is_killed_leaves_nothing_open
    reactor = Upwell::StaticReactor.new(@root, settings)
    TCPServer.open("127.0.0.1", 0) do |socket|
      before = Dir.children("/proc/self/fd").size
      reactor.listen(socket)
      thread = Thread.new { reactor.run }
      assert_equal 200, RawClient.get(socket.addr[1], "/a.txt").status
      thread.kill.join
      assert_operator before, :>=, Dir.children("/proc/self/fd").size # an IO of another test may be collected meanwhile
    end
  end

  # Which ends by exit, or tells the reactor to end, and has its handler return.
  def test_what_a_trap_handler_forks_leaves_it_to_its_parent
    BACKENDS.each do |backend|
      with_forking_server(backend) do |port, server, statuses|
        RawClient.open(port) do |client|
          { "WINCH" => 6, "URG" => 0 }.each do |name, status|
            assert_equal "0123456789", ask(client).body
            Process.kill(name, server)
            assert_equal [backend, name, "#{status}\n"], [backend, name, Timeout.timeout(RawClient::READ_MAX) { statuses.gets }]
          end
          assert_equal "0123456789", ask(client).body
        end
        assert_equal 200, RawClient.get(port, "/a.txt").status
      end
    end
  end

  def test_what_is_missing_or_wrong
    assert_raises(KeyError) { Upwell::StaticReactor.new(@root, settings.except(:list)) }
    assert_raises(ArgumentError) { Upwell::StaticReactor.new(@root, settings(access_log_format: :xml)) }
    assert_raises(ArgumentError) { Upwell::StaticReactor.new("a\0b", settings) }
    assert_raises(TypeError) { Upwell::StaticReactor.new(@root, settings(media_types: ["txt"])) }
    assert_raises(Upwell::BackendError) { Upwell::StaticReactor.new(@root, settings(backend: "devpoll")) }
    error = assert_raises(Errno::ENOENT) { Upwell::StaticReactor.new("/nowhere", settings).run }
    assert_includes error.message, "/nowhere"
    assert_raises(IOError) { Upwell::StaticReactor.new(@root, settings).listen(TCPServer.new("127.0.0.1", 0).tap(&:close)).run }
  end

  def test_lines_that_were_lost_are_counted
    reader, writer = IO.pipe
    reader.close
    reactor = Upwell::StaticReactor.new(@root, settings(access_log: writer))
    serve(reactor) { |port| 3.times { RawClient.get(port, "/a.txt") } }
    assert_equal 3, reactor.log_lines_lost
  ensure
    writer&.close
  end
end
