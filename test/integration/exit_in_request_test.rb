# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/websocket_client"

# An exception that ends a process, or the end of a thread, within one request or callback: nobody else is to notice.
class ExitInRequestTest < Minitest::Test
  EXCEPTIONS = {
    "exit" => /SystemExit/, "abort" => /SystemExit/, "interrupt" => /Interrupt/, "signal" => /SIGTERM/, "throw" => /uncaught throw/
  }.freeze
  ENDS = %w[kill thread_exit].freeze # of a thread: on the main one Ruby raises SystemExit for them
  ENDED = /SystemExit|ended the thread or the fiber/
  WAYS = EXCEPTIONS.merge(ENDS.to_h { |way| [way, ENDED] }).freeze
  # What the client gets; nil: the end of the connection.
  PLACES = { "call_itself" => 500, "hints" => 500, "each" => 200, "stream" => 200, "close" => 200, "finished" => 200, "subscriber" => 200,
             "fiber" => 200, "partial" => 200, "hijack" => nil }.freeze
  PROGRAM = <<~RUBY
    require "upwell"
    require "upwell/server"
    $stdout.sync = true
    app = ->(_env) { puts("asked") || sleep }
    server = Upwell::Server.new(app, Upwell::Configuration.new({ bind: "127.0.0.1", port: 0, mode: "%s" }))
    puts server.urls
    server.run
  RUBY
  DUMPING = <<~RUBY
    require "upwell"
    require "upwell/server"
    $stdout.sync = true
    dump = lambda do
      exit
    rescue SystemExit => e
      Marshal.dump(e)
    end
    app = ->(_env) { [200, {}, [Marshal.load(dump.call).class.name]] }
    server = Upwell::Server.new(app, Upwell::Configuration.new({ bind: "127.0.0.1", port: 0 }))
    puts server.urls
    server.run
  RUBY
  IGNORING = "trap('QUIT', nil)\n#{PROGRAM}".freeze
  # The child reuses the numbers of all descriptors that it has inherited.
  FORKING = <<~RUBY
    require "tempfile"
    require "upwell"
    require "upwell/server"
    Signal.trap("TERM") { @told = true }
    Upwell::ExitDeadline.watch([Signal.list["TERM"]], 60, "late")
    file = Tempfile.new("upwell")
    child = fork do
      kept = (3..50).map { |number| IO.for_fd(number).reopen(file.path, "a") rescue nil }
      Process.kill("TERM", Process.pid)
      Thread.pass until @told
      exit!(kept.any? ? 0 : 1)
    end
    Process.wait(child)
    print File.size(file.path)
  RUBY
  EVENTS = %w[on_open on_message on_drained on_close].freeze

  BACKENDS.product(MODES).each do |backend, mode|
    ways = backend == BACKENDS.first ? WAYS : WAYS.slice("exit", "kill") # by which a request ends is not the backend's concern

    define_method("test_a_request_ends_alone_in_#{mode}_on_#{backend}") do
      serve("--mode", mode, "--backend", backend) do |server|
        beside_a_held_request(server, mode) do
          PLACES.to_a.product(ways.to_a) { |(place, status), (way, told)| ask(server, place, status, way, told, mode) }
        end
      end
    end

    define_method("test_a_callback_ends_alone_in_#{mode}_on_#{backend}") do
      serve("--mode", mode, "--backend", backend) do |server|
        EVENTS.product(ways.to_a) { |event, (way, told)| tell(server, event, way, told) }
      end
    end
  end

  MODES.each do |mode|
    define_method("test_a_worker_lives_on_in_#{mode}") do
      serve("--mode", mode, "-w", "1") do |server|
        workers = server.workers
        WAYS.each { |way, told| ask(server, "call_itself", 500, way, told, mode) }
        assert_equal workers, server.workers
      end
    end

    # As of any program.
    define_method("test_exit_in_a_thread_of_the_application_ends_the_process_in_#{mode}") do
      assert_equal 7, status_after(mode) { |_server, client| client.write("GET /exits_in_thread/now HTTP/1.1\r\nHost: a\r\n\r\n") }.exitstatus
    end

    define_method("test_a_signal_ends_the_process_while_a_request_runs_in_#{mode}") do
      assert_equal Signal.list["QUIT"], status_after(mode) { |server, client| quit(server, client) }.termsig
    end

    define_method("test_a_trap_handler_ends_the_process_while_a_request_runs_in_#{mode}") do
      status = status_after(mode, "EXITS_AT_QUIT" => "1") { |server, client| quit(server, client) }
      assert_equal 7, status.exitstatus
    end
  end

  # HTTP/1.0 has no upgrade: a 101 is an error of the application there.
  def test_an_http_1_0_client_gets_no_101
    serve("--mode", "fibers") do |server|
      answers = %w[1.0 1.1].map do |version|
        RawClient.open(server.port) do |client|
          client.write("GET /switches HTTP/#{version}\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n")
          client.read_all[/ (\d+) /, 1]
        end
      end
      assert_equal %w[500 101], answers
    end
  end

  # Where the program has no handlers.
  def test_ctrl_c_ends_a_program_that_serves
    %w[INT TERM].product(%w[fibers inline]) do |signal, mode|
      program(format(PROGRAM, mode)) do |program|
        ask_and_signal(program, signal)
        assert_equal Signal.list[signal], Process.wait2(program.pid).last.termsig
      end
    end
  end

  # As gems do that pass exceptions on to other processes.
  def test_marshal_dumps_the_exception_of_exit
    program(DUMPING) do |program|
      assert_equal "SystemExit", RawClient.get(program.gets[/\d+$/].to_i, "/").body
      Process.kill("TERM", program.pid)
    end
  end

  def test_a_signal_that_the_program_ignores_with_nil_stays_ignored
    program(format(IGNORING, "fibers")) do |program|
      port = program.gets[/\d+$/].to_i
      Process.kill("QUIT", program.pid)
      ask_and_signal(program, "TERM", port)
      assert_equal Signal.list["TERM"], Process.wait2(program.pid).last.termsig
    end
  end

  def test_a_watched_signal_writes_to_no_descriptor_of_a_child
    program(FORKING) { |program| assert_equal "0", program.read }
  end

  private

  def program(script)
    command = [RbConfig.ruby, "-I#{File.join(ServerProcess::ROOT, "lib")}", "-e", script]
    IO.popen([BundleGemPaths.environment_without_rubygems, *command], err: %i[child out]) do |program|
      yield program
    rescue Minitest::Assertion
      Process.kill("KILL", program.pid)
      raise
    end
  end

  def serve(*arguments)
    ServerProcess.open(*arguments, "--drain-timeout", "5", app: "exit_in_request.ru") do |server|
      yield server
      assert_predicate server.stop, :success?
    end
  end

  def beside_a_held_request(server, mode)
    return yield if mode == "inline"

    RawClient.open(server.port) do |client|
      client.write("GET /held HTTP/1.1\r\nHost: a\r\n\r\n")
      yield
      assert_equal 200, RawClient.get(server.port, "/releases").status
      assert_equal "held", client.response.body
    end
  end

  def ask(server, place, status, way, told, mode)
    assert_equal [place, way, status], [place, way, status_of(server, "/#{place}/#{way}")]
    server.await(told) unless place == "fiber" && mode != "fibers"
    assert_equal [place, way, "fine"], [place, way, RawClient.get(server.port, "/fine").body]
  end

  # Of a body that breaks off, too.
  def status_of(server, path)
    text = RawClient.open(server.port) do |client|
      client.write("GET #{path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
      client.read_all
    end
    text[/\AHTTP\/1\.1 (\d+)/, 1]&.to_i
  end

  def tell(server, event, way, told)
    WebSocketClient.open(server.port, "/#{event}/#{way}") do |client|
      client.send_text("any") if event == "on_message"
      client.close_socket if event == "on_close"
      server.await(told)
    end
    server_sent_events(server, event, way, told) if %w[on_open on_drained].include?(event)
    assert_equal [event, way, "fine"], [event, way, RawClient.get(server.port, "/fine").body]
  end

  def server_sent_events(server, event, way, told)
    RawClient.open(server.port) do |client|
      client.write("GET /#{event}/#{way} HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n\r\n")
      server.await(told)
    end
  end

  def status_after(mode, environment = {})
    ServerProcess.open("--mode", mode, app: "exit_in_request.ru", environment: environment) do |server|
      RawClient.open(server.port) do |client|
        yield server, client
        return server.await_end
      end
    end
  end

  def quit(server, client)
    client.write("GET /waits/now HTTP/1.1\r\nHost: a\r\n\r\n")
    await_request(server)
    server.signal("QUIT")
  end

  def await_request(server)
    server.signal("TTIN")
    server.await(/in 'ExitInRequest\.waits'|in `waits'/, 1)
  rescue RuntimeError
    (tries = tries.to_i + 1) < 30 ? retry : raise
  end

  def ask_and_signal(program, signal, port = program.gets[/\d+$/].to_i)
    client = RawClient.new(port)
    client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    assert_equal "asked\n", program.gets
    Process.kill(signal, program.pid)
    program.read
  ensure
    client&.close
  end
end
