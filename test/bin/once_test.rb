# frozen_string_literal: true

require_relative "../test_helper"
require "open3"
require "timeout"
require "tmpdir"

# What is fetched or built once: whoever comes meanwhile waits, and nothing looks complete that is not.
class OnceTest < Minitest::Test
  PATIENCE = 60 # seconds
  ONCE = File.expand_path("../../bin/once.sh", __dir__)

  def in_folder
    Dir.mktmpdir { |base| Timeout.timeout(PATIENCE) { yield File.join(base, "cache", "thing") } }
  end

  # A program that fills the folder by the function `fill`, and goes on.
  def program(folder, fill, *options)
    ["bash", "-c", <<~PROGRAM, "bin/thing", folder, *options]
      set -euo pipefail
      folder=$1
      source #{ONCE}
      fill() {
        #{fill}
      }
      once "${@:2}" "$folder" "fetching a thing" fill
      echo "goes on"
    PROGRAM
  end

  # @return [Array(String, String, Process::Status)] what it printed, and how it ended
  def run_program(folder, fill, *options)
    Open3.capture3(*program(folder, fill, *options))
  end

  def refute_complete(folder, fill)
    output, errors, status = run_program(folder, fill)
    assert_empty output
    assert_equal 1, status.exitstatus, errors
    refute_path_exists File.join(folder, ".complete")
    errors
  end

  def test_it_is_done_once
    in_folder do |folder|
      2.times do |before|
        output, errors, status = run_program(folder, 'echo "is filled"; echo x >>"$folder/filled"')
        assert_predicate status, :success?, errors
        assert_equal "goes on\n", output
        assert_equal (before.zero? ? "fetching a thing (log: #{folder}.log) ...\n" : ""), errors
      end
      assert_equal "x\n", File.read(File.join(folder, "filled"))
      assert_equal "is filled\n", File.read("#{folder}.log")
    end
  end

  def test_what_was_filled_for_another_version_is_emptied_and_filled_anew
    in_folder do |folder|
      filled = %w[1 1 2 2 1].map do |version|
        _, errors, status = run_program(folder, 'ls -A "$folder"; echo x >>"$folder/filled"; touch "$folder/.hidden"', "--for", version)
        assert_predicate status, :success?, errors
        assert_equal "x\n", File.read(File.join(folder, "filled"))
        assert_equal ".wanted\n", File.read("#{folder}.log")
        !errors.empty?
      end
      assert_equal [true, false, true, false, true], filled
    end
  end

  def test_what_was_begun_for_another_version_does_not_go_on
    in_folder do |folder|
      [%w[1 *], %w[1 part], %w[2 *]].each do |version, found|
        assert_equal 1, run_program(folder, 'cd "$folder"; echo *; touch part; (exit 7)', "--for", version).last.exitstatus
        assert_equal "#{found}\n", File.read("#{folder}.log")
      end
    end
  end

  # As all was before versions were noted.
  def test_what_was_filled_for_no_version_is_taken_for_the_first_one
    in_folder do |folder|
      run_program(folder, "true")
      filled = %w[1 1 2].map { |version| !run_program(folder, "true", "--for", version)[1].empty? }
      assert_equal [false, false, true], filled
    end
  end

  # The first is at it until the second wants to be.
  def test_of_two_at_once_one_does_it
    in_folder do |folder|
      go = File.join(File.dirname(folder, 2), "go")
      File.mkfifo(go)
      fill = "echo x >>\"$folder/filled\"; read -r _ <#{go}"
      first = Process.spawn(*program(folder, fill), %i[out err] => File::NULL)
      File.open(go, "w") do |gate|
        second = Process.spawn(*program(folder, fill), %i[out err] => File::NULL)
        sleep 0.01 until wants_lock?(second)
        gate.syswrite("\n")
        [first, second].each { |pid| assert_predicate Process.wait2(pid).last, :success? }
      end
      assert_equal "x\n", File.read(File.join(folder, "filled"))
    end
  end

  def wants_lock?(pid)
    children = File.read("/proc/#{pid}/task/#{pid}/children").split
    children.any? { |child| File.read("/proc/#{child}/comm") == "flock\n" }
  rescue Errno::ENOENT, Errno::ESRCH
    false
  end

  def test_a_step_that_fails_ends_it_and_is_done_again
    in_folder do |folder|
      errors = refute_complete(folder, 'seq 1 30; echo "no such thing" >&2; (exit 7); touch "$folder/filled"')
      refute_path_exists File.join(folder, "filled"), "it went on after what failed"
      assert_equal [*12..30, "no such thing", "thing: fetching a thing failed; read the log #{folder}.log"].map(&:to_s),
                   errors.lines(chomp: true).drop(1)
      assert_predicate run_program(folder, "true").last, :success?
    end
  end

  def test_a_step_that_fails_in_a_pipe_or_for_an_unset_name_fails
    in_folder do |folder|
      refute_complete(folder, "false | cat; true")
      assert_match(/unset_name/, refute_complete(folder, 'echo "$unset_name"; true'))
    end
  end

  def test_a_log_that_cannot_be_written
    in_folder do |folder|
      FileUtils.mkdir_p("#{folder}.log")
      assert_match(/^thing: fetching a thing failed; read the log #{folder}\.log$/, refute_complete(folder, "true"))
    end
  end

  def test_a_full_disk
    in_folder do |folder|
      assert_match(/No space left on device/, refute_complete(folder, 'echo "is filled" >/dev/full; true'))
    end
  end

  def test_a_disk_that_is_full_in_the_end
    in_folder do |folder|
      FileUtils.mkdir_p(folder)
      File.symlink("/dev/full/nowhere", File.join(folder, ".complete"))
      refute_complete(folder, "true")
    end
  end

  def test_a_folder_that_cannot_be_written
    in_folder do |folder|
      File.write(File.dirname(folder), "a file")
      assert_match(/^thing: #{folder} cannot be written; set XDG_CACHE_HOME to a writable directory$/, refute_complete(folder, "true"))
    end
  end

  def test_what_is_killed_lets_another_do_it
    in_folder do |folder|
      killed = Process.spawn(*program(folder, 'echo x >>"$folder/filled"; kill -KILL $$; exec sleep 0'), %i[out err] => File::NULL)
      assert_equal Signal.list["KILL"], Process.wait2(killed).last.termsig
      refute_path_exists File.join(folder, ".complete")
      assert_predicate run_program(folder, "true").last, :success?
    end
  end
end
