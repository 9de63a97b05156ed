# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../bench/io/candidates"
require_relative "../../../bench/io/workloads"
require_relative "../../../bench/lib/settings"

class IoCandidatesTest < Minitest::Test
  ALL = Bench::Io::CANDIDATES
  FOLDER = Bench::Io::FOLDER

  def candidate(name)
    ALL.find { |each| each.name == name }
  end

  def test_names_are_unique
    assert_equal ALL.map(&:name).uniq, ALL.map(&:name)
  end

  def test_each_can_be_asked_for_each_of_its_workloads
    groups = Bench::Io::WORKLOADS.map(&:group)
    ALL.each { |candidate| assert_includes groups, candidate.group, candidate.name }
    assert_empty groups - ALL.map(&:group)
  end

  def test_the_files_that_commands_name_exist
    ALL.each do |candidate|
      paths = candidate.arguments(1).grep(%r{\A/.*\.rb\z})
      refute_empty paths, candidate.name
      paths.each { |path| assert_path_exists path, candidate.name }
    end
    Bench::Io::WORKLOADS.grep(Bench::Io::Task).each { |task| assert_path_exists File.join(FOLDER, "workloads", "#{task.name}.rb") }
  end

  def test_what_serves_is_told_port_class_and_backend
    assert_equal ["env", RbConfig.ruby, "-r", "upwell", "#{FOLDER}/servers/hello.rb", "4711", "Upwell::Scheduler", "io_uring"],
                 candidate("upwell-io_uring").arguments(4711)
  end

  def test_what_runs_a_task_has_its_environment
    assert_equal ["env", "IO_EVENT_SELECTOR=EPoll", RbConfig.ruby, "-r", "async", "#{FOLDER}/measure_workload.rb", "spawn", "2", "Async::Scheduler"],
                 candidate("async-epoll").task_arguments("spawn", 2)
  end

  def test_a_gem_that_is_built_in_two_ways_has_two_folders
    first, second = %w[evt-io_uring evt-epoll].map { |name| candidate(name).installation }
    refute first.eql?(second)
    assert candidate("epoll-evt").installation.eql?(second)
  end

  def test_workloads_are_measured_at_their_own_numbers_of_connections
    chosen = Bench::Settings.new({ "WORKLOADS" => "spawn,http_loop" }, workloads: Bench::Io::WORKLOADS, candidates: ALL)
    assert_equal ["Spawn of 1,000 fibers", *[10, 64, 256, 1024].map { |count| "HTTP on the loop, #{count} connections" }],
                 chosen.tables.map(&:title)
  end
end
