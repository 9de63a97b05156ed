# frozen_string_literal: true

require "minitest/autorun"
require "stringio"
require "tmpdir"
require_relative "../../bench/io/candidates"
require_relative "../../bench/io/workloads"
require_relative "../../bench/lib/benchmark"

class BenchmarkTest < Minitest::Test
  SELECT = Bench::Io::Candidate.new(name: "select", group: :scheduler, program: "hello", libraries: %w[./select_scheduler.rb],
                                    choice: "SelectScheduler")
  BROKEN = Bench::Io::Candidate.new(**SELECT.to_h, name: "broken", choice: "NoScheduler")
  SETTINGS = { "WORKLOADS" => "ping_pong", "ROUNDS" => "1", "SECONDS" => "1" }.freeze

  # A gem that no compiler or package manager can do anything with.
  def with_unusable
    Dir.mktmpdir do |folder|
      path = File.join(folder, "unusable.gem")
      File.write(path, "no gem")
      yield Bench::Io::Candidate.new(**SELECT.to_h, name: "unusable", gem_name: path, folder: File.join(folder, "installed"))
    end
  end

  def test_a_peer_that_does_not_install_or_breaks_leaves_the_others_their_figures
    with_unusable do |unusable|
      settings = Bench::Settings.new(SETTINGS, workloads: Bench::Io::WORKLOADS, candidates: [unusable, BROKEN, SELECT])
      benchmark = Bench::Benchmark.new(settings, log: StringIO.new).run
      table = benchmark.tables.first
      assert_equal [SELECT], table.candidates
      assert_match(/does not install: /, table.failures.fetch(unusable))
      assert_match(/fails: .*uninitialized constant NoScheduler/, table.failures.fetch(BROKEN))
      assert_match(/does not install: /, benchmark.versions.fetch(unusable))
    end
  end
end
