# frozen_string_literal: true

# Clients that stay, many and of many kinds, against the server under ASan and UBSan, in the modes, backends and numbers of workers that are
# asked for: SECONDS in all, SEED.

require_relative "soaked_server"
require_relative "random_websocket_clients"

# Each server has a time to grow warm, and a longer one after which it must hold no more than before.
class Soak
  MODES = ENV.fetch("MODES", "fibers,threads:5,inline").split(",")
  BACKENDS = ENV.fetch("BACKENDS", "io_uring,epoll").split(",")
  WORKERS = ENV.fetch("WORKERS", "0,2").split(",").map(&:to_i) # 0: one process, without a supervisor
  PROCESSES = 2
  CLIENTS = 14 # of each
  WARM = 0.3 # of the time
  PROBE_EVERY = 0.2 # seconds
  RESTART_EVERY = 8

  def initialize(seconds, seed)
    @seconds = seconds
    @seed = seed
    @failures = 0
  end

  # @return [Boolean] whether all went well
  def run
    servers = MODES.product(BACKENDS, WORKERS)
    servers.each { |server| soak(*server, @seconds / servers.size) }
    puts "soak: #{servers.size} servers, #{@failures} failed, SEED=#{@seed}"
    @failures.zero?
  end

  private

  def soak(mode, backend, workers, seconds)
    name = "#{mode}, #{backend}, #{workers} workers"
    server = SoakedServer.new(mode, backend, workers)
    counts = live(server, workers, seconds)
    puts "soak: #{name}: #{server.opened} opened, #{server.replaced} workers replaced, slowest answer #{server.slowest.round(2)} s, " \
         "#{counts.sort.map { |pair| pair.join(" ") }.join(", ")}"
  rescue SoakedServer::Failure => e
    fail_with("#{name}: #{e.message}\n#{also(server)}")
  ensure
    server&.kill
    $stdout.flush
  end

  def live(server, workers, seconds)
    visit(server, workers, seconds * WARM, 0)
    before = server.settle
    counts = visit(server, workers, seconds * (1 - WARM), 1)
    after = server.settle
    puts "soak: memory #{before.memory} KiB, then #{after.memory}; descriptors #{before.descriptors}, then #{after.descriptors}"
    server.compare(before, after)
    server.end_well
    counts
  end

  # Why a client fails is most often what the server has said.
  def also(server)
    server&.complain
    nil
  rescue SoakedServer::Failure => e
    e.message
  end

  def fail_with(text)
    @failures += 1
    puts "soak: FAILED, SEED=#{@seed}: #{text}"
  end

  def visit(server, workers, seconds, round)
    children = Array.new(PROCESSES) { |index| begin_visits(server.port, "r#{round}p#{index}", seconds, workers.positive?) }
    look_after(server, workers, seconds)
    results = children.flat_map { |pid, reader| Marshal.load(reader.read).tap { Process.wait(pid) } } # rubocop:disable Security/MarshalLoad
    failures = results.flat_map(&:last)
    raise SoakedServer::Failure, failures.first(8).join("\n") if failures.any?

    results.map(&:first).reduce { |all, some| all.merge(some) { |_, one, other| one + other } }
  ensure
    children&.each { |child| end_process(child.first) }
  end

  def begin_visits(port, name, seconds, restarts)
    reader, writer = IO.pipe
    $stdout.flush
    pid = fork do
      reader.close
      seed = @seed + name.sum
      all = Array.new(CLIENTS) do |index|
        Thread.new { RandomWebSocketClients.new(port, "#{name}c#{index}", seed + index, restarts).run(seconds) }
      end
      writer.write(Marshal.dump(all.map(&:value)))
      exit!(true)
    end
    writer.close
    [pid, reader]
  end

  def look_after(server, workers, seconds)
    ends = now + seconds
    restart = now + RESTART_EVERY
    while now < ends
      server.probe
      sleep(PROBE_EVERY)
      next unless workers.positive? && now > restart

      server.replace_workers
      restart = now + RESTART_EVERY
    end
  end

  def end_process(pid)
    Process.kill("KILL", pid)
    Process.wait(pid)
  rescue Errno::ESRCH, Errno::ECHILD
    nil # it has ended
  end

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

exit Soak.new(Float(ENV.fetch("SECONDS", "600")), Integer(ENV.fetch("SEED", rand(1_000_000)))).run
