# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../bench/lib/settings"

class SettingsTest < Minitest::Test
  def settings(**environment)
    Bench::Settings.new(environment.transform_keys(&:to_s))
  end

  def test_defaults
    assert_equal [5, 5, [64, 1024]], [settings.rounds, settings.seconds, settings.connections]
    assert_equal [Bench::WORKLOADS, Bench::CANDIDATES], [settings.workloads, settings.candidates]
  end

  def test_the_quick_mode_is_short_and_says_so_in_the_name
    quick = settings(QUICK: "1", CONNECTIONS: "16")
    assert_equal [1, 1, [16], "quick"], [quick.rounds, quick.seconds, quick.connections, quick.name]
  end

  def test_servers_and_workloads_are_chosen_by_name
    chosen = settings(SERVERS: "puma, upwell-epoll", WORKLOADS: "json")
    assert_equal [%w[upwell-epoll puma], %w[json]], [chosen.candidates.map(&:name), chosen.workloads.map(&:name)]
  end

  def test_unknown_names_are_refused_with_the_known_ones
    error = assert_raises(ArgumentError) { settings(SERVERS: "puma,webrick").candidates }
    assert_match(/SERVERS: there is no webrick; there are .*puma/, error.message)
  end

  def test_counts_have_to_be_positive_numbers
    %w[0 -1 many].each { |text| assert_raises(ArgumentError) { settings(ROUNDS: text).rounds } }
    assert_raises(ArgumentError) { settings(CONNECTIONS: "64,0").connections }
  end

  def test_each_workload_has_a_server_and_its_files
    Bench::WORKLOADS.each do |workload|
      assert(Bench::CANDIDATES.any? { |candidate| candidate.for?(workload) }, workload.name)
      assert_path_exists workload.app
      assert_path_exists workload.request.script if workload.script
    end
  end

  def test_a_command_is_told_its_port
    puma = Bench::CANDIDATES.find { |candidate| candidate.name == "puma" }
    assert_equal %w[puma -w 0 -t 1:1 -q -b tcp://127.0.0.1:4711 config.ru], puma.arguments(4711)
  end
end
