# frozen_string_literal: true

require "minitest/autorun"
require "rexml/document"
require_relative "../../bench/lib/candidates"
require_relative "../../bench/lib/chart"
require_relative "../../bench/lib/report"
require_relative "../../bench/lib/sample"
require_relative "../../bench/lib/workload_samples"
require_relative "../../bench/lib/process_usage"
require_relative "../../bench/lib/workload"
require_relative "../../bench/lib/wrk"

# From what one run measured to the figures that are published.
class ReportTest < Minitest::Test
  UPWELL, PUMA, IODINE, ITSI = %w[upwell-epoll puma iodine itsi].map do |name|
    Bench::CANDIDATES.find { |candidate| candidate.name == name }
  end
  MEBIBYTE = 1_048_576

  def sample(rate, user: 10.0, system: 5.0, errors: 0, core_share: 0.99, wrk_share: 0.5, resident: 20 * MEBIBYTE)
    Bench::Sample.new(rate, 1.0, 2.0, user, system, errors, resident, resident + MEBIBYTE, core_share, wrk_share, 0.25, 3, nil)
  end

  def table(connections = 64)
    Bench::WorkloadSamples.new(Bench::WORKLOADS.first, connections).tap do |table|
      [30_000.0, 28_000.0, 32_000.0].each { |rate| table.add(UPWELL, sample(rate, core_share: 0.5, wrk_share: 0.97)) }
      [10_000.0, 9_000.0, 12_000.0].zip([40.0, 45.0, 35.0]) { |rate, user| table.add(PUMA, sample(rate, user: user, system: 20.0, errors: 2)) }
      table.add(IODINE, sample(20_000.0, user: 20.0, system: 10.0))
      table.fail(ITSI, "does not start:\nno | such file")
    end
  end

  def report(*tables)
    Bench::Report.new(tables, facts: { "kernel" => "Linux 6" }, servers: { UPWELL => "upwell 0.1.0" }, chart: "chart.svg").to_s
  end

  def cells(text, name)
    text.lines.grep(/^\| #{name} /).last.split("|").map(&:strip)[1...-1]
  end

  def test_a_sample_divides_what_the_server_took_by_the_requests
    load = Bench::Wrk::Result.new(1000, 2.0, 500.0, 1.0, 3.0, 4, 5, 1.5, 3e9)
    before = Bench::ProcessUsage.new(1.0, 0.5, 100, 10, 20, 5)
    after = Bench::ProcessUsage.new(1.02, 0.53, 107, 11, 22, 5)
    sample = Bench::Sample.of(load, before, after)

    assert_in_delta 20, sample.user_us
    assert_in_delta 30, sample.system_us
    assert_in_delta 50, sample.cpu_us
    assert_in_delta 0.025, sample.core_share
    assert_in_delta 0.75, sample.wrk_share
    assert_in_delta 1.5, sample.gigabytes
    assert_equal 107, sample.faults
    assert_equal [9, 11, 22], [sample.errors, sample.resident, sample.peak]
  end

  def test_a_row_holds_medians_extremes_sums_and_ratios_to_the_best_peer
    text = report(table)
    assert_equal ["puma", "10000 (9000, 12000)", "0.50", "60.0 (55.0, 65.0)", "2.00", "40.0 + 20.0", "99 %", "21", "1.00", "2.00", "6", "20",
                  "50 %"],
                 cells(text, "puma")
    assert_equal %w[1.50 0.50], cells(text, "upwell-epoll").values_at(2, 4)
  end

  def test_further_columns_come_last_and_skip_what_was_not_measured
    columns = { "GB/s" => [:gigabytes, "%.2f"], "calls" => [:system_calls, "%.1f"] }
    text = Bench::Report.new([table], facts: {}, servers: {}, chart: "chart.svg", columns: columns).to_s
    assert_equal %w[0.25 –], cells(text, "puma").last(2)
    assert_equal cells(text, "candidate").size, cells(text, "puma").size
  end

  def test_rows_go_from_the_fastest_to_those_without_figures
    names = report(table).lines.grep(/^\| (upwell-epoll|puma|iodine|itsi) /).map { |line| line[/\w[\w-]*/] }
    assert_equal %w[upwell-epoll iodine puma itsi], names.last(4)
  end

  def test_the_reason_of_a_failure_stays_in_its_cell
    assert_equal "| itsi | does not start: no \\| such file |#{" – |" * 11}\n", report(table).lines.grep(/^\| itsi/).first
  end

  def test_a_failure_drops_the_figures_of_earlier_rounds
    failed = table
    failed.fail(PUMA, "ended under load")
    assert_equal "ended under load", cells(report(failed), "puma")[1]
  end

  def test_a_server_that_wrk_held_back_is_marked
    assert_equal "30000‡ (28000, 32000)", cells(report(table), "upwell-epoll")[1]
  end

  def test_without_peers_there_is_no_ratio
    lonely = Bench::WorkloadSamples.new(Bench::WORKLOADS.first, 64)
    lonely.add(UPWELL, sample(1.0))
    assert_equal "–", cells(report(lonely), "upwell-epoll")[2]
  end

  def test_the_report_names_how_it_was_got
    text = report(table)
    ["- kernel: Linux 6", "upwell 0.1.0", "`#{UPWELL.command}`", "chart.svg", "Hello world, 64 connections"].each do |expected|
      assert_includes text, expected
    end
  end

  def test_the_chart_is_well_formed_and_its_bars_are_in_proportion
    chart = REXML::Document.new(Bench::Chart.new([table, table(1024)], title: "A & B").to_s)
    assert_equal "A & B", chart.root.elements["title"].text
    widths = bar_widths(chart)

    assert_equal 3 * 2 * 2, widths.size, "three servers, two panels, two numbers of connections"
    assert_in_delta 3.0, widths.max / widths.sort[2], 0.01 # 30,000 and 10,000 requests/s
  end

  def test_a_server_that_fails_at_one_number_of_connections_keeps_its_other_bars
    failed = table(1024)
    failed.fail(PUMA, "ended under load")
    chart = REXML::Document.new(Bench::Chart.new([table, failed], title: "x").to_s)
    assert_equal 10, bar_widths(chart).size
  end

  private

  # Without the background and the keys.
  def bar_widths(chart)
    REXML::XPath.match(chart, "//*[local-name()='rect']").map { |bar| bar.attributes["width"] }.grep_v(/%|\A14\.0\z/)
      .map(&:to_f)
  end
end
