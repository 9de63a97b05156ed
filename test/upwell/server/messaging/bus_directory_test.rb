# frozen_string_literal: true

require "test_helper"
require "open3"
require "rbconfig"
require "socket"
require "tmpdir"

class BusDirectoryTest < Minitest::Test
  DIRECTORY = Upwell::Server::Messaging::BusDirectory
  LIB = File.expand_path("../../../../lib", __dir__)

  def age(*folders)
    folders.each { |folder| File.utime(*[Time.now - Upwell::Server::Messaging::BusLeftovers::YOUNG - 1] * 2, folder) }
  end

  def in_folder
    Dir.mktmpdir(nil, "/tmp") { |base| yield base, { "XDG_RUNTIME_DIR" => base } } # short, as sockets' addresses are
  end

  def test_it_is_this_users_alone_and_removed_with_what_is_in_it
    in_folder do |base, environment|
      directory = DIRECTORY.new(environment)
      assert_equal base, File.dirname(directory.path)
      assert_equal 0o40700, File.stat(directory.path).mode
      File.write(File.join(directory.path, "left"), "")
      directory.remove
      assert_empty Dir.children(base)
    end
  end

  def test_a_child_process_does_not_remove_it
    in_folder do |_, environment|
      directory = DIRECTORY.new(environment)
      Process.wait(fork { directory.remove || exit!(0) })
      assert File.directory?(directory.path)
    end
  end

  def test_what_a_killed_server_has_left_is_removed_in_time
    in_folder do |base, environment|
      dead = Process.wait(fork { exit!(0) })
      left = File.join(base, "upwell-bus-#{dead}-01234567")
      others = ["upwell-bus-#{Process.pid}-01234567", "upwell-bus-#{dead}"].map { |name| File.join(base, name) }
      [left, *others].each { |path| Dir.mkdir(path) }
      File.write(File.join(left, "1-0123456789abcdef.bus"), "")
      DIRECTORY.new(environment)
      assert File.directory?(left), "its server may still boot, in another container"
      age(left, *others)
      DIRECTORY.new(environment)
      refute File.exist?(left)
      assert(others.all? { |path| File.directory?(path) })
    end
  end

  def test_what_has_a_name_that_is_no_text_stays
    in_folder do |base, _|
      left = File.join(base, "upwell-bus-#{Process.wait(fork { exit!(0) })}-01234567")
      Dir.mkdir(left)
      age(left)
      names = ["caf\xC3\xA9", "\xff"].map(&:b)
      names.each { |name| File.write(File.join(base, name), "") }
      program = 'require "upwell"; Upwell::Server::Messaging::BusDirectory.new({ "TMPDIR" => ARGV.first }).remove'
      environment = BundleGemPaths.environment_without_rubygems("LC_ALL" => "C.UTF-8")
      output, status = Open3.capture2e(environment, RbConfig.ruby, "-I#{LIB}", "-e", program, base)
      assert_predicate status, :success?, output
      assert_equal names, Dir.children(base).map(&:b).sort
    end
  end

  # In another container its process is not to be seen.
  def test_where_somebody_listens_is_not_left
    in_folder do |base, environment|
      folder = File.join(base, "upwell-bus-#{Process.wait(fork { exit!(0) })}-01234567")
      Dir.mkdir(folder)
      listener = UNIXServer.new(File.join(folder, "1-0123456789abcdef.bus"))
      age(folder)
      DIRECTORY.new(environment)
      assert File.directory?(folder)
      listener.close
      DIRECTORY.new(environment)
      refute File.exist?(folder)
    end
  end

  def test_a_path_that_is_too_long_for_a_socket_is_not_taken
    in_folder do |base, _|
      long = File.join(base, "a" * 60)
      Dir.mkdir(long)
      directory = DIRECTORY.new({ "XDG_RUNTIME_DIR" => long, "TMPDIR" => base })
      assert_equal base, File.dirname(directory.path)
    end
  end

  def test_without_one_the_server_goes_on
    in_folder do |base, _|
      assert_useless File.join(base, "gone"), "no such file"
      assert_nil DIRECTORY.still_there(nil)
      assert_equal base, DIRECTORY.still_there(base)
      assert_empty Dir.children(base)
    end
  end

  def test_where_something_else_is_now_the_server_goes_on_without
    in_folder do |_, environment|
      path = DIRECTORY.new(environment).path
      File.chmod(0o750, path)
      assert_useless path, "permission denied"
      File.chmod(0o700, path)
      File.rename(path, "#{path}-moved")
      File.symlink("#{path}-moved", path)
      assert_useless path, "is not a directory"
    end
  end

  def assert_useless(path, reason)
    _, told = capture_io { assert_nil DIRECTORY.still_there(path) }
    assert_match(/published messages stay within this process, because their directory #{path} cannot be used: .*#{reason}/, told)
  end

  def test_a_reactor_does_not_join_in_a_folder_that_others_may_read
    in_folder do |base, _|
      File.chmod(0o755, base)
      settings = Upwell::Configuration.new({}, environment: {}).reactor_settings.merge(bus: base)
      assert_raises(Errno::EPERM) { Upwell::Reactor.new(nil, settings).run }
    end
  end
end
