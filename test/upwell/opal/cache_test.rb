# frozen_string_literal: true

require_relative "../../test_helper"
require "tmpdir"
require "upwell/opal/cache"

# Where compiled applications are kept: what lies there is run.
class OpalCacheTest < Minitest::Test
  def in_home
    Dir.mktmpdir { |home| with_environment("XDG_CACHE_HOME" => home) { yield File.join(home, "upwell", "opal", "programs") } }
  end

  def with_environment(values)
    before = values.keys.to_h { |name| [name, ENV.fetch(name, nil)] }
    ENV.update(values)
    yield
  ensure
    ENV.update(before)
  end

  def test_what_is_made_once_is_kept_for_its_user_alone
    in_home do |folder|
      assert_equal [1], Upwell::Opal::Cache.programs.fetch(["key"]) { [1] }
      assert_equal [1], Upwell::Opal::Cache.programs.fetch(["key"]) { flunk "it was there" }
      assert_equal 0o700, File.stat(folder).mode & 0o777
    end
  end

  def test_a_folder_that_others_may_write_to
    in_home do |folder|
      FileUtils.mkdir_p(folder)
      File.chmod(0o777, folder)
      error = assert_raises(Upwell::ConfigurationError) { Upwell::Opal::Cache.programs }
      assert_includes error.message, "#{folder} must belong to this user alone"
    end
  end

  def test_a_link_in_its_place
    in_home do |folder|
      FileUtils.mkdir_p(File.dirname(folder))
      File.symlink(Dir.tmpdir, folder)
      assert_raises(Upwell::ConfigurationError) { Upwell::Opal::Cache.programs }
    end
  end

  def test_a_folder_of_somebody_else
    skip "only root can give a folder away" unless Process.uid.zero?
    in_home do |folder|
      FileUtils.mkdir_p(folder)
      File.chown(65_534, nil, folder)
      assert_raises(Upwell::ConfigurationError) { Upwell::Opal::Cache.programs }
    end
  end

  # Each container has a process of that number.
  def test_what_another_process_of_the_same_number_writes_is_its_own
    in_home do
      cache = Upwell::Opal::Cache.programs
      FileUtils.mkdir_p(cache.folder)
      path = cache.path_of(["key"])
      other = "#{path}.#{Process.pid}"
      File.write(other, "half")
      assert cache.write(path, "whole")
      assert_equal %w[half whole], [File.read(other), File.read(path)]
      assert_equal [path, other].sort, Dir["#{cache.folder}/*"]
    end
  end

  def test_half_a_file_is_made_again
    in_home do
      cache = Upwell::Opal::Cache.programs
      cache.fetch(["key"]) { "a" * 1000 }
      File.truncate(cache.path_of(["key"]), 100)
      assert_equal [2], cache.fetch(["key"]) { [2] }
      assert_equal [2], cache.fetch(["key"]) { flunk "it was there" }
    end
  end

  def test_where_nothing_can_be_written
    in_home do |folder|
      FileUtils.mkdir_p(File.dirname(folder))
      File.write(File.dirname(folder).concat("/programs"), "")
      assert_raises(Upwell::ConfigurationError) { Upwell::Opal::Cache.programs }
    end
  end

  def fill(folder, count, time)
    FileUtils.mkdir_p(folder, mode: 0o700)
    Array.new(count) { |i| File.join(folder, "#{time.to_i}-#{i}").tap { |path| File.write(path, "") && File.utime(time, time, path) } }
  end

  def test_too_many_are_those_that_were_used_first
    in_home do |folder|
      old = Time.now - Upwell::Opal::Cache::IN_USE - 60
      first = fill(folder, 10, old - 1)
      fill(folder, Upwell::Opal::Cache::FILES_MAX.fetch("programs") - 1, old)
      Upwell::Opal::Cache.programs.fetch(["key"]) { [1] }
      assert_equal Upwell::Opal::Cache::FILES_MAX.fetch("programs"), Dir.children(folder).size
      assert(first.none? { |path| File.exist?(path) })
    end
  end

  # A cluster starts its workers from it.
  def test_what_has_been_used_lately_stays
    in_home do |folder|
      used = fill(folder, Upwell::Opal::Cache::FILES_MAX.fetch("programs") + 10, Time.now - 3600)
      Upwell::Opal::Cache.programs.fetch(["key"]) { [1] }
      assert(used.all? { |path| File.exist?(path) })
    end
  end
end
