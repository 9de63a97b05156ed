# frozen_string_literal: true

require "minitest/autorun"
require_relative "support/application"
require_relative "support/concurrent_clients"

# Solid Queue in a process beside the server, as docs/guide/rails.md has it: requests enqueue, jobs are performed, and both end together.
class SolidQueueTest < Minitest::Test
  APP = Application.new("rails8", code: "rails", prepare: %w[bin/rails db:schema:load])
  WAYS = { 0 => "config.ru", 2 => "before_fork" }.freeze # by the number of workers
  LEFT = 'puts [Note.where(title: "slow", body: "performed"), SolidQueue::ClaimedExecution, SolidQueue::Process].map(&:count).join(" ")'

  def setup
    skip "Rails 8.1 needs Ruby 3.2" if RUBY_VERSION < "3.2"
    skip "APPS chooses others" unless ENV.fetch("APPS", APP.name).split(",").include?(APP.name)
  end

  %w[fibers threads:5 inline].product(WAYS.keys).each do |mode, workers|
    define_method("test_#{mode}_#{workers}_workers") do
      serve(mode, workers) do |server|
        assert_performed(server, enqueue_under_load(server))
        assert_stops_with_a_job_under_way(server)
      end
    end
  end

  WAYS.each_key do |workers|
    define_method("test_the_server_ends_when_the_jobs_were_killed_#{workers}_workers") do
      serve("threads:5", workers) do |server|
        jobs = supervisor_of_jobs(server)
        assert_all_end(server) do
          Process.kill("KILL", jobs)
          assert_equal 1, server.await_end.exitstatus
        end
      end
    end

    define_method("test_the_jobs_end_when_the_server_was_killed_#{workers}_workers") do
      serve("threads:5", workers) do |server|
        supervisor_of_jobs(server)
        assert_all_end(server) { server.kill }
      end
    end
  end

  private

  def serve(mode, workers, &block)
    options = ["--mode", mode, "-w", workers.to_s]
    APP.open { APP.serve("upwell", "-b", "127.0.0.1", "-p", "0", *options, environment: { "QUEUE" => WAYS.fetch(workers) }, &block) }
  end

  # @return [Array<String>] the markers of the jobs
  def enqueue_under_load(server)
    markers = Queue.new
    ConcurrentClients.run(server.port, 1) do |client, marker|
      assert_equal marker, client.checked(client.post("/enqueue?m=#{marker}", {}))
      markers << marker
      assert_equal marker, client.get("/marker?m=#{marker}")
    end
    Array.new(markers.size) { markers.pop }
  end

  # Each of them, and once.
  def assert_performed(server, markers)
    await { ask(server, "/performed").to_i >= markers.size }
    ConcurrentClients::Client.open(server.port) { |client| markers.each { |marker| assert_equal "1", client.get("/performed?m=#{marker}"), marker } }
  end

  # It is performed to its end, and once; nothing stays claimed.
  def assert_stops_with_a_job_under_way(server)
    ConcurrentClients::Client.open(server.port) { |client| client.checked(client.post("/enqueue?m=slow&seconds=1", {})) }
    await { ask(server, "/performed?m=slow&body=begun") == "1" }
    assert_all_end(server) { assert_predicate server.stop, :success?, server.lines.join }
    assert_equal "1 0 0", APP.run("bundle", "exec", "bin/rails", "runner", LEFT, environment: { "QUEUE" => "none" }).lines.last.chomp
    assert_empty server.lines.grep(/error|exception/i)
  end

  # After the block, at last, no process of the server is left, nor of the jobs.
  def assert_all_end(server)
    processes = descendants(server.pid)
    assert_operator processes.size, :>=, 3 # Solid Queue alone has as many
    yield
    await { processes.none? { |pid| alive?(pid) } }
  end

  # @return [Integer] its process, once its own children have begun
  def supervisor_of_jobs(server)
    await { jobs(server) && children(jobs(server)).size >= 2 } # a dispatcher and a worker
    jobs(server)
  end

  def jobs(server)
    children(server.pid).find { |pid| File.read("/proc/#{pid}/cmdline").match?(%r{bin/jobs|solid-queue}) }
  end

  def descendants(pid)
    children(pid).flat_map { |child| [child, *descendants(child)] }
  end

  def children(pid)
    Dir["/proc/#{pid}/task/*/children"].flat_map { |path| File.read(path).split.map(&:to_i) }
  rescue Errno::ENOENT, Errno::ESRCH
    []
  end

  def alive?(pid)
    !File.read("/proc/#{pid}/stat").match?(/\) Z/)
  rescue Errno::ENOENT, Errno::ESRCH
    false
  end

  # Nothing tells when it is so.
  def await
    Timeout.timeout(ConcurrentClients::READ_MAX) { sleep 0.05 until yield }
  end

  def ask(server, path)
    ConcurrentClients::Client.open(server.port) { |client| client.get(path) }
  end
end
