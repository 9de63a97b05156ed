# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../bench/lib/report"
require_relative "../../bench/lib/server"
require_relative "../../bench/opal/overhead_ratios"
require_relative "../../bench/opal/settings"

class OpalBenchTest < Minitest::Test
  # What is installed for the tests, not for the benchmark.
  Here = Struct.new(:environment)
  MODULES = File.expand_path("../../node_modules", __dir__)
  HELLO, ENV_TO_S = Bench::Opal::Settings::WORKLOADS
  EXECUTABLES = { node: "node", uwebsockets: "node", bun: Dir[File.join(MODULES, "@oven", "bun-*", "bin", "bun")].first }.freeze

  %i[node uwebsockets bun].each do |runtime|
    define_method(:"test_#{runtime}_says_hello_as_the_application_does") do
      skip "#{runtime} is not installed" unless there?(runtime)

      arguments = ->(port) { [EXECUTABLES[runtime], File.join(Bench::Opal::SERVERS, "#{runtime}.js"), port.to_s] }
      Bench::Server.open(arguments, installation: Here.new({ "NODE_PATH" => MODULES })) do |server|
        response = server.request
        assert_nil HELLO.objection(response)
        assert_equal %w[text/plain 13], [response["content-type"], response["content-length"]]
      end
    end
  end

  def test_only_hello_is_asked_of_a_bare_runtime
    bare = Bench::Opal::CANDIDATES.select(&:bare?)
    assert_equal %i[node uwebsockets bun], bare.map(&:runtime)
    bare.each { |candidate| assert_equal [true, false], [HELLO, ENV_TO_S].map { |workload| candidate.for?(workload) }, candidate.name }
  end

  def test_a_candidate_is_told_its_port_and_its_file
    program, file, port = candidate("uwebsockets").arguments(4711)
    assert_equal %w[node 4711], [program, port]
    assert_path_exists file
    assert_path_exists candidate("opal-up-bun").arguments(4711)[1]
  end

  def test_gems_and_runtime_are_one_installation
    up, up_node = %w[up up_node].map { |name| candidate(name).installation }
    refute_equal up, up_node
    assert_equal up, Bench::Opal::GemsAndRuntimeInstallation.new(Bench::Opal::UPWELL, Bench::Opal::UWEBSOCKETS)
    environment = up.environment
    assert_equal [up.gems.folder] * 2, environment.values_at("GEM_HOME", "XDG_CACHE_HOME")
    assert_match(%r{/uwebsockets-3\.0\.6/node_modules\z}, environment.fetch("NODE_PATH"))
  end

  def test_ratios_are_to_the_same_runtime_and_to_hello
    rows = ratios(table(HELLO, "node" => [10, 20, 30], "bun" => [5, 5, 5], "up_node" => [12, 22, 45], "up_ruby" => [8, 8, 8]),
                  table(ENV_TO_S, "up_node" => [44, 40, 60], "up_ruby" => [20, 20, 20]))
    assert_equal [["up_ruby", "64", "–", "–", "2.50", "2.50"], ["up_node", "64", "1.10 (1.10, 1.50)", "2.20", "2.00", "2.00"]], rows
  end

  def test_what_was_not_measured_has_no_ratio
    failed = table(ENV_TO_S, "up_node" => [44]).tap { |table| table.fail(candidate("up_node"), "ended") }
    assert_equal [["up_node", "64", "2.00 (2.00, 2.00)", "–", "–", "–"]], ratios(table(HELLO, "node" => [10], "up_node" => [20]), failed)
    assert_equal [["up", "64", "–", "–", "–", "–"]], ratios(table(ENV_TO_S, "up" => [44]))
  end

  def test_the_ratios_end_the_report
    tables = [table(HELLO, "node" => [10], "up_node" => [20])]
    report = Bench::Report.new(tables, facts: {}, servers: {}, chart: "chart.svg", appendix: Bench::Opal::OverheadRatios.new(tables).to_s)
    assert_equal ["## Hello world, 64 connections\n", "## Ratios\n"], report.to_s.lines.grep(/^## /)
  end

  def test_defaults
    settings = Bench::Opal::Settings.new({})
    assert_equal [5, 5, [64], Bench::Opal::CANDIDATES, %w[hello env]],
                 [settings.seconds, settings.rounds, settings.connections, settings.candidates, settings.workloads.map(&:name)]
  end

  private

  def there?(runtime)
    return EXECUTABLES[:bun] if runtime == :bun

    system("node", "--version", out: File::NULL) && (runtime == :node || File.directory?(File.join(MODULES, "uwebsockets")))
  end

  def candidate(name)
    Bench::Opal::CANDIDATES.find { |candidate| candidate.name == name }
  end

  # @param costs [Hash{String => Array}] CPU microseconds of each round, by the candidate's name
  def table(workload, costs)
    costs.each_with_object(Bench::WorkloadSamples.new(workload, 64)) do |(name, rounds), table|
      rounds.each { |cost| table.add(candidate(name), sample(cost)) }
    end
  end

  # On a core that is full, a fifth of it by the kernel.
  def sample(cost)
    Bench::Sample.new(1_000_000.0 / cost, 1.0, 2.0, cost * 0.8, cost * 0.2, 0, 1, 1, 1.0, 0.5, 0.0, 0)
  end

  def ratios(*tables)
    Bench::Opal::OverheadRatios.new(tables).to_s.lines.grep(/^\| /).drop(2).map { |line| line.split("|").map(&:strip)[1...-1] }
  end
end
