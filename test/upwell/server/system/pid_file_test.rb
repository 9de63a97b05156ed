# frozen_string_literal: true

require "test_helper"
require "tmpdir"

# The file that holds the process number, where it cannot be written and where another server is just about to start or to end.
class PidFileTest < Minitest::Test
  PID_OF_A_DEAD_SERVER = "99999999\n"

  def in_folder
    Dir.mktmpdir { |folder| yield File.join(folder, "pid") }
  end

  def ours
    "#{Process.pid}\n"
  end

  # In a process that may write to no file, as on a full disk.
  def assert_refused(path)
    status = Process.wait2(fork { exit!(refused?(path)) }).last
    assert_predicate status, :success?
  end

  def refused?(path)
    trap("XFSZ", "IGNORE")
    Process.setrlimit(:FSIZE, 0)
    Upwell::Server::System::PidFile.new(path).write
    false
  rescue Upwell::ConfigurationError => e
    e.message.include?("pid file #{path} cannot be written: File too large; choose another with --pid-file")
  end

  def test_one_that_cannot_be_written_leaves_nothing_behind
    in_folder do |path|
      assert_refused(path)
      refute_path_exists path
    end
  end

  def test_one_that_cannot_be_written_again_keeps_the_number_it_has
    in_folder do |path|
      File.write(path, PID_OF_A_DEAD_SERVER)
      assert_refused(path)
      assert_equal PID_OF_A_DEAD_SERVER, File.read(path)
    end
  end

  # In a folder of others it could lead to any file of this user's.
  def test_a_symbolic_link_is_not_followed
    in_folder do |path|
      target = "#{path}.target"
      File.write(target, "precious")
      [target, "#{path}.nowhere"].each do |destination|
        File.symlink(destination, path)
        error = assert_raises(Upwell::ConfigurationError) { Upwell::Server::System::PidFile.new(path).write }
        assert_equal "pid file #{path} cannot be written: it is a symbolic link; choose another with --pid-file", error.message
        File.unlink(path)
      end
      assert_equal "precious", File.read(target)
      refute_path_exists "#{path}.nowhere"
    end
  end

  def test_a_longer_number_is_replaced
    in_folder do |path|
      File.write(path, PID_OF_A_DEAD_SERVER)
      Upwell::Server::System::PidFile.new(path).write
      assert_equal ours, File.read(path)
    end
  end

  def test_one_that_another_server_removes_as_we_open_it_is_made_anew
    in_folder do |path|
      file = Upwell::Server::System::PidFile.new(path)
      locks = 0
      other = TracePoint.new(:c_call) { |call| File.unlink(path) if call.method_id == :flock && (locks += 1) == 1 }
      other.enable { file.write }
      assert_equal ours, File.read(path)
      file.remove
      refute_path_exists path
    end
  end

  # Yields while somebody else has the lock.
  def locked(path, content)
    File.write(path, content)
    File.open(path, "r+") do |other|
      other.flock(File::LOCK_EX)
      yield other
    end
  end

  def test_one_that_another_server_has_just_locked_belongs_to_that_server
    ["", PID_OF_A_DEAD_SERVER].each do |before|
      in_folder do |path|
        locked(path, before) do |other|
          late = TracePoint.new(:c_return) { |call| other.truncate(other.pwrite("#{Process.ppid}\n", 0)) if call.method_id == :read }
          error = assert_raises(Upwell::ConfigurationError) { late.enable { Upwell::Server::System::PidFile.new(path).write } }
          assert_equal "pid file #{path} belongs to the running process #{Process.ppid}; stop it, or name another file",
                       error.message
        end
      end
    end
  end

  def test_a_lock_that_a_dead_server_has_left_to_its_child_refuses_nobody
    in_folder do |path|
      locked(path, PID_OF_A_DEAD_SERVER) do
        Upwell::Server::System::PidFile.new(path).write
        assert_equal ours, File.read(path)
      end
    end
  end
end
