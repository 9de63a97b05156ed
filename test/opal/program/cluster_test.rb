# frozen_string_literal: true

require "fileutils"
require_relative "../../test_helper"
require_relative "../../support/opal_runtimes"
require "upwell/opal/program"

# A supervisor and its workers.
class OpalClusterTest < Minitest::Test
  include OpalRuntimes

  APP = File.expand_path("../support/process_state.ru", __dir__)
  HALF = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nab"

  # What a supervisor is made to do first.
  FULL = <<~JAVASCRIPT
    const processes = require("child_process"), { fork } = processes, { existsSync } = require("fs");

    processes.fork = (...rest) => {
      if (existsSync(process.env.FOLDER + "/full")) throw Object.assign(new Error("spawn EAGAIN"), { code: "EAGAIN" });
      return fork(...rest);
    };
  JAVASCRIPT

  HASTE = "const set = setInterval; globalThis.setInterval = (act, wait, ...rest) => set(act, Math.min(wait, 100), ...rest);"

  def start(command, *arguments, **options, &block)
    need(command)
    OpalProcess.open(command, *arguments, app: APP, **options, &block)
  end

  # Each connection may be another worker's.
  def pids(port, count)
    Timeout.timeout(60) do
      found = []
      found |= [RawClient.get(port, "/pid").body.to_i] until found.size == count
      found
    end
  end

  def children(pid)
    File.read("/proc/#{pid}/task/#{pid}/children").split
  end

  def await
    Timeout.timeout(60) { sleep 0.02 until yield }
  end

  # The block signals the supervisor while its workers boot. Until then Ruby compiles, which has other children.
  def interrupt_at_boot(command, name)
    need(command)
    Dir.mktmpdir do |folder|
      log = File.join(folder, "log")
      all = OpalProcess.command(command, "-b", "127.0.0.1", "-p", "0", "-w", "2", "-P", File.join(folder, "pid"), APP)
      pid = ProcessGroup.spawn(OpalProcess.environment, *all, out: log, err: log)
      await { File.read("/proc/#{pid}/cmdline").start_with?(name) && children(pid).any? }
      yield pid
      assert_equal 0, ProcessGroup.wait(pid).exitstatus, File.read(log)
      assert_match(/\A\S+ upwell\[#{pid}\]: SIGINT: .*\n\z/, File.read(log))
      assert_equal ["log"], Dir.children(folder)
    end
  end

  def await_refusal(port)
    Timeout.timeout(60) { loop { TCPSocket.new("127.0.0.1", port).close || sleep(0.02) } }
  rescue Errno::ECONNREFUSED
    true
  end

  # @return [Hash{Symbol => Integer}] how requests ended, until nobody listened any more
  def ask_until_refused(port)
    results = Hash.new(0)
    loop do
      results[RawClient.get(port, "/environment")&.status || :none] += 1
    rescue Errno::ECONNREFUSED
      return results
    rescue SystemCallError, IOError => e
      results[e.class] += 1
    end
  end

  # The executable file of the runtime goes, and comes back.
  %w[up up_node].each do |name|
    define_method("test_#{name}_cluster_goes_on_when_no_worker_can_be_started") do
      need(name)
      Dir.mktmpdir do |folder|
        node, hidden = %w[node hidden].map { |file| File.join(folder, file) }
        FileUtils.cp(Upwell::Opal::Runtime.find(:node, ServerProcess::ROOT).path, node)
        start("#{name}_cluster", environment: { "PATH" => "#{folder}:#{ENV.fetch("PATH")}" }) do |server|
          killed, other = pids(server.port, 2)
          File.rename(node, hidden)
          Process.kill("KILL", killed)
          server.await(/: worker \d cannot start: no such file or directory; retrying in /)
          assert_equal [other], pids(server.port, 1)
          File.rename(hidden, node)
          Timeout.timeout(60) { sleep 0.02 until (server.workers - [killed, other]).any? }
          pids(server.port, 2)
          assert_equal 0, server.stop.exitstatus
        end
      end
    end
  end

  # Node tells so by an error that it raises, or by one that it emits, as above.
  %w[up up_node].each do |name|
    define_method("test_#{name}_cluster_goes_on_when_the_system_has_no_room_for_a_process") do
      Dir.mktmpdir do |folder|
        full = File.join(folder, "full")
        File.write(File.join(folder, "first.js"), FULL)
        start("#{name}_cluster", environment: { "NODE_OPTIONS" => "--require #{folder}/first.js", "FOLDER" => folder }) do |server|
          killed, other = pids(server.port, 2)
          File.write(full, "")
          Process.kill("KILL", killed)
          server.await(/: worker \d cannot start: the process limit is reached \(.*\); retrying in /)
          assert_equal [other], pids(server.port, 1)
          File.delete(full)
          assert_includes pids(server.port, 2), other
          assert_equal 0, server.stop.exitstatus
        end
      end
    end
  end

  # It is used by a process that was started long ago.
  def test_a_cluster_whose_program_stays_in_the_cache
    need("up_node")
    Dir.mktmpdir do |folder|
      haste, program = %w[haste.js program.js].map { |file| File.join(folder, file) }
      File.write(haste, HASTE)
      FileUtils.cp(Upwell::Opal::Program.new(APP, :node).path, program)
      command = ["node", program, "-b", "127.0.0.1", "-p", "0", "-w", "1"]
      IO.popen({ "NODE_OPTIONS" => "--require #{haste}" }, command, err: %i[child out]) do |server|
        assert_match(/ serves on /, server.gets)
        File.utime(Time.at(0), Time.at(0), program)
        await { File.mtime(program).to_i.positive? }
      ensure
        Process.kill("TERM", server.pid)
      end
    end
  end

  OpalProcess::RUNTIMES.each_key do |name|
    command = "#{name}_cluster"

    define_method("test_#{command}_has_workers_on_one_port") do
      start(command) { |server| assert_equal server.workers.sort, pids(server.port, 2).sort }
    end

    define_method("test_#{name}_with_workers_is_a_cluster") do
      start(name, "-w", "2") { |server| assert_equal 2, pids(server.port, 2).size }
    end

    define_method("test_#{command}_replaces_a_worker_that_is_killed") do
      start(command) do |server|
        killed, other = pids(server.port, 2)
        Process.kill("KILL", killed)
        server.await(/: worker \d \(#{killed}\) died: SIGKILL; starting another in 0\.1 s$/)
        Timeout.timeout(60) { sleep 0.02 until (server.workers - [killed, other]).any? }
        assert_includes pids(server.port, 2), other
        assert_equal 0, server.stop.exitstatus
      end
    end

    define_method("test_#{command}_has_a_worker_that_boots_survive_a_hang_up") do
      start(command) do |server|
        killed, = pids(server.port, 2)
        Process.kill("KILL", killed)
        server.await(/starting another/)
        Timeout.timeout(60) { server.signal("HUP") || sleep(0.02) until (server.workers - [killed]).size == 2 }
        pids(server.port, 2)
        refute_match(/died: SIGHUP/, server.lines.join)
        assert_equal 0, server.stop.exitstatus
      end
    end

    define_method("test_#{command}_replaces_a_worker_that_is_told_to_end") do
      start(command) do |server|
        ended, = pids(server.port, 2)
        Process.kill("TERM", ended)
        server.await(/: worker \d \(#{ended}\) died: exit 0; starting another/)
        refute_includes pids(server.port, 2), ended
      end
    end

    define_method("test_#{command}_whose_supervisor_is_killed_finishes_and_ends") do
      start(command, "--drain-timeout", "120") do |server|
        client = RawClient.new(server.port)
        client.write(HALF)
        workers = pids(server.port, 2)
        server.kill
        await_refusal(server.port)
        client.write("cd")
        assert_equal [200, "abcd"], client.response.to_a.values_at(0, 2)
        Timeout.timeout(60) { sleep 0.02 while workers.any? { |pid| File.exist?("/proc/#{pid}") && File.read("/proc/#{pid}/stat") !~ /\) Z/ } }
      end
    end

    # Workers that boot do not know yet that a terminal's signal is the supervisor's.
    define_method("test_#{command}_is_interrupted_while_its_workers_boot") do
      interrupt_at_boot(command, name) { |pid| Process.kill("INT", -pid) }
    end

    define_method("test_#{command}_is_interrupted_after_a_worker_that_boots_has_died_of_the_signal") do
      interrupt_at_boot(command, name) do |pid|
        worker = children(pid).first
        Process.kill("INT", worker.to_i)
        await { !children(pid).include?(worker) }
        Process.kill("INT", pid)
      end
    end

    # Of Bun's clients, who connects in the very moment may be reset by the kernel, once.
    define_method("test_#{command}_finishes_all_under_load") do
      start(command) do |server|
        clients = Array.new(4) { Thread.new { ask_until_refused(server.port) } }
        sleep 0.3
        assert_equal 0, server.stop.exitstatus
        results = clients.map(&:value).reduce { |all, one| all.merge(one) { |_, a, b| a + b } }
        assert_operator results.delete(Errno::ECONNRESET).to_i, :<=, clients.size if name == "up_bun"
        assert_equal [200], results.keys, results.inspect
      end
    end
  end
end
