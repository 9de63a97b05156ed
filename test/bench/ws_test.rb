# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../bench/lib/report"
require_relative "../../bench/ws/settings"

class WsBenchTest < Minitest::Test
  FIGURES = "connected\nmessages 1000\nfailures 3\nseconds 2.0\nbytes 66000\np50 0.5\np99 4.0\ncpu 0.25\nfailure why not\nfinished\n"
  MEBIBYTE = 1_048_576

  def test_what_the_generator_says_is_understood
    result = Bench::Ws::LoadGeneratorProcess.new("echo").parse(FIGURES)
    assert_equal [1000, 2.0, 500.0, 0.5, 4.0, 3, 0.25], result.to_a.values_at(0, 1, 2, 3, 4, 5, 7)
  end

  def test_a_row_holds_the_costs_of_both_sides
    before = Bench::ProcessUsage.new(1.0, 0.5, 100, 20 * MEBIBYTE, 20 * MEBIBYTE, 5)
    after = Bench::ProcessUsage.new(1.3, 0.7, 100, 20 * MEBIBYTE, 20 * MEBIBYTE, 5)
    sample = Bench::Sample.of(Bench::Ws::LoadGeneratorProcess.new("echo").parse(FIGURES), before, after).tap { |taken| taken.client_bytes = 4096.0 }
    assert_in_delta 500, sample.cpu_us
    assert_equal ["500.0 (500.0, 500.0)", "250.0", "4096"], cells(sample).values_at(3, -2, -1)
  end

  def test_the_block_is_called_when_clients_are_connected_and_when_they_have_finished
    told = 0
    result = scripted(FIGURES).run(url: "http://127.0.0.1:1/", connections: 1, seconds: 1) { told += 1 }
    assert_equal [2, 1000], [told, result.requests]
  end

  def test_why_the_generator_fails_is_told
    error = assert_raises(Bench::Wrk::Error) { scripted(nil).run(url: "http://127.0.0.1:1/", connections: 1, seconds: 1) }
    assert_equal "is not upgraded to a WebSocket", error.message
  end

  def test_each_candidate_has_its_application
    Bench::Ws::CANDIDATES.each do |candidate|
      file = candidate.rackup || candidate.arguments(1)[1]
      assert_path_exists file, candidate.name
    end
  end

  def test_a_candidate_is_told_to_compress
    node = Bench::Ws::CANDIDATES.find { |candidate| candidate.name == "node-ws" }
    assert_equal [%w[4711], %w[4711 deflate]], [false, true].map { |deflates| node.arguments(4711, deflates: deflates).drop(2) }
  end

  def test_two_versions_of_a_gem_are_two_installations
    old, new = Bench::Ws::IODINES.map(&:installation)
    refute_equal old.folder, new.folder
  end

  def test_defaults
    settings = Bench::Ws::Settings.new({})
    assert_equal [2, 5, [100, 5000], Bench::Ws::CANDIDATES], [settings.seconds, settings.rounds, settings.connections, settings.candidates]
  end

  private

  def cells(sample)
    candidate = Bench::Ws::CANDIDATES.first
    table = Bench::WorkloadSamples.new(Bench::Ws::WORKLOADS.first, 64).tap { |empty| empty.add(candidate, sample) }
    columns = { "generator" => [:load_us, "%.1f"], "bytes" => [:client_bytes, "%.0f"] }
    text = Bench::Report.new([table], facts: {}, servers: {}, chart: "chart.svg", columns: columns).to_s
    text.lines.grep(/^\| #{candidate.name} /).last.split("|").map(&:strip)[1...-1]
  end

  # A generator whose program is the shell.
  def scripted(output)
    script = output ? 'printf "%s" "$0"; read -r line; true' : 'echo "is not upgraded to a WebSocket" >&2; exit 1'
    Bench::Ws::LoadGeneratorProcess.new("echo").tap { |generator| generator.define_singleton_method(:command) { |**| ["sh", "-c", script, output.to_s] } }
  end
end
