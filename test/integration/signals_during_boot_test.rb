# frozen_string_literal: true

require_relative "../test_helper"

# What an operator, or logrotate, does to a server or a worker that is not ready yet; and what a dead server has left behind.
class SignalsDuringBootTest < Minitest::Test
  PATIENCE = 120 # seconds
  ROTATIONS = 5

  # Without Bundler, which loads much.
  class Bare < ServerProcess
    def self.command(*arguments)
      [RbConfig.ruby, *$LOAD_PATH.flat_map { |folder| ["-I", folder.to_s] }, EXE, *arguments]
    end
  end

  # An application that tells when it is loaded, and is ready once the folder has a file "go".
  def booting(*arguments, first: "")
    Dir.mktmpdir do |folder|
      app = File.join(folder, "config.ru")
      File.write(app, "#{first}\nwarn 'booting'; sleep 0.02 until File.exist?('#{folder}/go'); run ->(_) { [200, {}, ['ready']] }\n")
      log = File.join(folder, "logs", "log")
      Dir.mkdir(File.dirname(log))
      pid = Process.spawn(*ServerProcess.spawn_arguments("-b", "unix:#{folder}/socket", "-l", log, *arguments, app))
      await_text(log, /booting/)
      yield pid, folder, log
    ensure
      kill(pid)
    end
  end

  def kill(pid)
    Process.kill("KILL", pid)
    Process.wait(pid)
  rescue Errno::ESRCH, Errno::ECHILD
    nil # it was waited for
  end

  def await
    Timeout.timeout(PATIENCE) { sleep 0.02 until yield }
  end

  def await_text(path, pattern)
    await { File.exist?(path) && File.read(path).match?(pattern) }
  end

  def finish_boot(folder, log)
    File.write(File.join(folder, "go"), "")
    await_text(log, /serves on/)
  end

  def assert_stops(pid, message = nil)
    Process.kill("TERM", pid)
    assert_predicate Process.wait2(pid).last, :success?, message
  end

  def test_signals_before_the_application_is_loaded_end_no_server
    [%w[-w 0], %w[-w 1 --preload], %w[-w 1]].each do |arguments|
      booting(*arguments) do |pid, folder, log|
        %w[USR1 USR2 TTIN HUP].each { |name| Process.kill(name, pid) }
        sleep 0.2
        finish_boot(folder, log)
        assert_stops(pid, arguments.join(" "))
      end
    end
  end

  TELL_WARMUP = "require 'upwell'; def Process.warmup = Upwell::Log.tell('warm')"

  def assert_warms(times, *arguments)
    booting(*arguments, first: TELL_WARMUP) do |pid, folder, log|
      finish_boot(folder, log)
      assert_stops(pid)
      assert_equal times, File.read(log).scan(/warm$/).size, arguments.join(" ")
    end
  end

  # With preload before anybody is forked, or every worker would move what it shares with the others.
  def test_ruby_is_told_when_the_application_is_loaded
    assert_warms(1, "-w", "0")
    assert_warms(1, "-w", "2", "--preload")
    assert_warms(2, "-w", "2")
  end

  def test_ruby_is_not_told_where_it_must_not_move_objects
    ENV["RUBY_DISABLE_WARMUP"] = "1"
    assert_warms(0, "-w", "0")
  ensure
    ENV.delete("RUBY_DISABLE_WARMUP")
  end

  def test_a_log_whose_folder_has_gone_is_kept
    %w[0 1].each do |workers|
      booting("-w", workers) do |pid, folder, log|
        finish_boot(folder, log)
        File.rename(File.dirname(log), "#{folder}/gone")
        Process.kill("HUP", pid)
        await_text("#{folder}/gone/log", /cannot be opened again: no such file/)
        assert_stops(pid)
      end
    end
  end

  # Not before the application names it: its Bundler may want another version than Ruby's own.
  def test_applications_that_do_not_load_stringio_find_it
    Dir.mktmpdir do |folder|
      app = File.join(folder, "config.ru")
      File.write(app, "warn $LOADED_FEATURES.grep(/stringio/).inspect; run ->(_) { [200, {}, StringIO.new('found')] }\n")
      MODES.each do |mode|
        Bare.open("--mode", mode, app: app, environment: { "RUBYOPT" => nil }) do |server|
          assert_includes server.lines, "[]\n"
          assert_equal "found", RawClient.get(server.port, "/").body
        end
      end
    end
  end

  # It may not yet have been listening to signals.
  def test_a_new_worker_writes_to_the_new_log
    booting("-w", "1") do |pid, folder, log|
      finish_boot(folder, log)
      ROTATIONS.times do |index|
        File.unlink(File.join(folder, "go"))
        Process.kill("USR1", pid)
        Timeout.timeout(PATIENCE) { Thread.pass until workers(pid).size == 2 }
        File.rename(log, "#{log}.#{index}")
        Process.kill("HUP", pid)
        await { File.exist?(log) }
        File.write(File.join(folder, "go"), "")
        await_text(log, /worker 0 was replaced/)
        workers(pid).each { |worker| assert_equal log, File.readlink("/proc/#{worker}/fd/2") }
      end
      assert_stops(pid)
    end
  end

  def workers(pid)
    File.read("/proc/#{pid}/task/#{pid}/children").split.map(&:to_i)
  end

  def test_config_ru_is_utf_8_in_every_locale
    Dir.mktmpdir do |directory|
      path = File.join(directory, "config.ru")
      File.write(path, "\uFEFFrun ->(_env) { [200, {}, [\"smørrebrød\"]] }\n__END__\nno Ruby")
      %w[C C.UTF-8].each do |locale|
        ServerProcess.open(app: path, environment: { "LC_ALL" => locale }) do |server|
          assert_equal "smørrebrød".b, RawClient.get(server.port, "/").body.b
        end
      end
    end
  end

  def test_a_slow_boot_is_ended_by_its_own_time_out
    booting("-w", "1", "--boot-timeout", "0.5") do |pid, _folder, log|
      await_text(log, /killing worker process \d+: its application did not load within [\d.]+ s; raise --boot-timeout/)
      assert_equal 1, Process.wait2(pid).last.exitstatus
    end
  end

  # The number of a dead server is another program's by now: ours.
  def test_a_pid_file_that_was_left_behind_refuses_nobody
    %w[0 1].each do |workers|
      Dir.mktmpdir do |folder|
        path = File.join(folder, "pid")
        File.write(path, "#{Process.pid}\n")
        ServerProcess.open("-w", workers, "-P", path) do |server|
          assert_equal server.pid.to_s, File.read(path).chomp
          assert_predicate server.stop, :success?
          refute_path_exists path
        end
      end
    end
  end
end
