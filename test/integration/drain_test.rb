# frozen_string_literal: true

require_relative "../test_helper"

# Who comes when a server is told to end: the connected are served, the others refused at once, and port and path are free for the next.
class DrainTest < Minitest::Test
  PATIENCE = 120 # seconds
  WAITING = 4
  REFUSALS = 20 # in a row: one of several sockets on a port may be later than the others
  REFUSED = [Errno::ECONNREFUSED, Errno::ENOENT].freeze

  # A server, and how to reach it.
  Site = Struct.new(:server, :folder, :path, :arguments) do
    # Closes it then: whoever does not is waited for, for a while.
    def self.read(client)
      client.read.tap { client.close }
    end

    def connect
      path ? UNIXSocket.new(path) : TCPSocket.new("127.0.0.1", server.port)
    end

    def ask(target = "/")
      connect.tap { |client| client.write("GET #{target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n") }
    end

    # @return [Thread] with the answer of a request that the application has begun
    def hold
      client = ask("/held")
      sleep 0.02 until File.exist?(File.join(folder, "begun"))
      Thread.new { Site.read(client) }
    end

    def release
      File.write(File.join(folder, "go"), "")
    end

    # Connects until nobody listens any more.
    #
    # @return [Array<Socket>] those that were connected, each with a request
    def await_refusal
      clients = []
      refused = 0
      while refused < REFUSALS
        begin
          clients << ask
          refused = 0
          sleep 0.01
        rescue *REFUSED
          refused += 1
        end
      end
      clients
    end
  end

  # On TCP and on a UNIX socket, with and without workers; several at once, as they wait for most of the time.
  def each_site(modes, *options, workers: %w[0 2])
    each_backend_and_mode(modes) do |backend, mode|
      threads = workers.product([true, false]).map do |count, tcp|
        Thread.new { serve(["--backend", backend, "--mode", mode, "-w", count, *options], tcp: tcp) { |site| yield site } }
      end
      threads.each { |thread| thread.report_on_exception = false }.each(&:join)
    end
  end

  def serve(arguments, tcp:)
    Dir.mktmpdir do |folder|
      path = File.join(folder, "socket") unless tcp
      arguments += ["-b", "unix:#{path}"] if path
      start(arguments, folder) do |server|
        Timeout.timeout(PATIENCE) { yield Site.new(server, folder, path, arguments) }
      end
    end
  end

  def start(arguments, folder, &block)
    ServerProcess.open(*arguments, app: "draining.ru", environment: { "FOLDER" => folder }, &block)
  end

  def assert_served(texts, site)
    texts.each { |text| assert_match(/\AHTTP\/1.1 200 OK.* by \d+\z/m, text, site.arguments.join(" ")) }
  end

  def test_who_comes_is_refused_at_once_and_who_is_connected_is_served
    each_site(MODES) do |site|
      held = site.hold
      waiting = Array.new(WAITING) { site.ask }
      site.server.signal("TERM")
      waiting += site.await_refusal
      site.release
      assert_served([held.value, *waiting.map { |client| Site.read(client) }], site)
      assert_equal 0, site.server.await_end.exitstatus
    end
  end

  # They waited in the backlog, with their requests sent.
  def test_who_is_connected_and_finds_no_room_is_served_when_there_is
    each_site(%w[fibers threads:2], "--connections-max", "2") do |site|
      held = site.hold
      waiting = Array.new(3 * WAITING) { site.ask("/held") }
      site.server.signal("TERM")
      waiting += site.await_refusal
      site.release
      assert_served([held.value, *waiting.map { |client| Site.read(client) }], site)
      assert_equal 0, site.server.await_end.exitstatus
    end
  end

  # Whoever comes in the very moment, too.
  def test_nobody_who_is_connected_is_reset_under_load
    each_site(%w[threads:3]) do |site|
      clients = Array.new(4) { Thread.new { ask_until_refused(site) } }
      clients.each { |client| client.report_on_exception = false }
      sleep 0.2
      site.server.signal("TERM")
      assert_served(clients.flat_map(&:value), site)
      assert_equal 0, site.server.await_end.exitstatus
    end
  end

  def ask_until_refused(site)
    texts = []
    loop { texts << Site.read(site.ask) }
  rescue *REFUSED
    texts
  end

  # The workers have requests that do not end; the address is free for the next server, nevertheless.
  def test_workers_whose_supervisor_was_killed_leave_the_address_to_the_next
    each_site(%w[inline fibers], workers: %w[1 2]) do |site|
      held = site.hold
      orphans = site.server.workers
      site.server.kill
      site.await_refusal.each(&:close)
      arguments = site.path ? site.arguments : [*site.arguments, "-p", site.server.port.to_s]
      start(arguments, site.folder) do |successor|
        refute_includes orphans, Site.read(Site.new(successor, site.folder, site.path, arguments).ask)[/\d+\z/].to_i
        site.release
        assert_served([held.value], site)
        assert_path_exists site.path if site.path
        assert_predicate successor.stop, :success? # or its workers would remove the socket while the folder is removed
      end
    end
  end

  def test_a_worker_that_is_replaced_leaves_the_socket_to_its_successor
    each_site(%w[fibers], workers: %w[1]) do |site|
      before = site.server.workers
      held = site.hold
      site.server.signal("USR1")
      Thread.pass until site.server.workers.size == 2
      site.release
      site.server.await(/worker 0 was replaced/)
      after = Site.read(site.ask)
      assert_served([held.value, after], site)
      refute_includes before, after[/\d+\z/].to_i
    end
  end

  def test_the_file_of_another_socket_is_left_alone
    %w[0 2].each do |workers|
      serve(["-w", workers], tcp: false) do |site|
        File.unlink(site.path)
        UNIXServer.open(site.path) do
          assert_predicate site.server.stop, :success?
          UNIXSocket.new(site.path).close
        end
      end
    end
  end
end
