# frozen_string_literal: true

require_relative "../test_helper"

# An application that forks within a request: the child has none of the server's threads, and none of its connections. It ends when it has
# done what the application wanted of it, and the client gets its answer from the parent, once.
class ForkInRequestTest < Minitest::Test
  STATUSES = { block: 0, exit: 3, abort: 1, raise: 1, exec: 1, thread: 4, timeout: 5, answer: 1, hijack: 1, hints: 1, drain: 1, stop: 1 }.freeze
  ANSWER_MAX = 30 # seconds

  # @yieldparam server [ServerProcess]
  # @yieldparam folder [String] where it has the files "pid" and "socket"
  def serve(backend, mode)
    environment = mode == "inline" ? { "INLINE" => "1" } : {}
    Dir.mktmpdir do |folder|
      arguments = ["--backend", backend, "--mode", mode, "-b", "unix:#{folder}/socket", "--pid-file", "#{folder}/pid"]
      ServerProcess.open(*arguments, *ServerProcess::PATIENT, app: "fork_in_request.ru", environment: environment) { |server| yield server.read_on, folder }
    end
  end

  def test_the_child_of_a_supervisor_that_loads_the_application
    Dir.mktmpdir do |folder|
      arguments = ["-w", "1", "--preload", "-b", "unix:#{folder}/socket", "--pid-file", "#{folder}/pid"]
      ServerProcess.open(*arguments, app: "fork_in_request.ru") do |server|
        assert_match(/load: 6/, ask(server, "elsewhere"))
        assert_equal %w[pid socket], Dir.children(folder).sort
        assert_equal 0, server.stop.exitstatus
        assert_empty Dir.children(folder)
      end
    end
  end

  def test_what_the_application_does_at_the_end_of_a_child_can_wait
    each_backend_and_mode do |backend, mode|
      Dir.mktmpdir do |folder|
        ServerProcess.open("--backend", backend, "--mode", mode, app: "at_exit.ru") do |server|
          told = RawClient.get(server.port, "/?#{folder}/told").body
          assert_match(/\A9 after \S+ s\z/, told)
          assert_operator Float(told[/after (\S+)/, 1]), :>=, 0.2
        end
      end
    end
  end

  def test_the_child_of_a_body_that_is_closed_answers_nobody
    each_backend_and_mode do |backend, mode|
      serve(backend, mode) do |server, _folder|
        RawClient.open(server.port) do |client|
          %w[closing here closing here].each do |what|
            client.write("GET /#{what} HTTP/1.1\r\nHost: a\r\n\r\n")
            assert_equal what, client.response&.body, "#{backend}, #{mode}"
          end
        end
        assert_predicate server.stop, :success?
        refute_match(/finished in the child/, server.lines.join)
      end
    end
  end

  # While a thread of the application waits for a client that does not read.
  def with_slow_client(server, mode)
    return yield if mode == "inline" # which no client keeps waiting

    RawClient.open(server.port) do |client|
      client.write("GET /endless HTTP/1.1\r\nHost: a\r\n\r\n")
      client.socket.readpartial(100)
      yield
    end
  end

  def ask(server, what)
    RawClient.open(server.port) do |client|
      client.write("GET /#{what} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
      Timeout.timeout(ANSWER_MAX) { client.read_all }
    end
  rescue Timeout::Error
    "no answer"
  end

  # Those forked beside the requests, in whatever order, when this number of signals has been dealt with, and one more.
  def elsewhere(mode, done)
    [*("back: 0" if done == 1), *(["clean: 6", "ended: 0", "fiber: 6"] if mode == "fibers"), "load: 6", "trap: 6"]
  end

  def await_elsewhere(server, expected)
    finish = Process.clock_gettime(Process::CLOCK_MONOTONIC) + ANSWER_MAX
    loop do
      ended = ask(server, "elsewhere")[/\r\n\r\n\K.*/m].to_s.scan(/\w+: \d*/).sort
      return ended if ended == expected || Process.clock_gettime(Process::CLOCK_MONOTONIC) > finish
    end
  end

  BACKENDS.product(MODES) do |backend, mode|
    define_method(:"test_the_child_of_a_request_ends_with_#{backend}_in_mode_#{mode.tr(":", "_")}") do
      serve(backend, mode) do |server, folder|
        with_slow_client(server, mode) do
          STATUSES.each do |what, status|
            assert_equal "#{what}: #{status}", ask(server, what)[/\AHTTP\/1\.1 200 (?:(?!HTTP\/1\.1).)*\r\n\r\n\K.*\z/m], server.lines.join
          end
          assert_match(/\r\n\r\nhere\z/, ask(server, "here"))
        end
        ask(server, "schedule")
        %w[WINCH URG].each_with_index do |signal, done| # one handler would run within the other, or in its child
          server.signal(signal)
          assert_equal elsewhere(mode, done), await_elsewhere(server, elsewhere(mode, done)), server.lines.join
        end
        assert_equal %w[pid socket], Dir.children(folder).sort
        assert_equal 0, server.stop.exitstatus, server.lines.join
        assert_empty Dir.children(folder)
      end
    end
  end
end
