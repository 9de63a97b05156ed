# frozen_string_literal: true

require "minitest/autorun"
require "rexml/document"
require_relative "../../../bench/io/candidates"
require_relative "../../../bench/io/workloads"
require_relative "../../../bench/lib/chart"
require_relative "../../../bench/lib/report"
require_relative "../../../bench/lib/workload_samples"

# A workload without connections and load generator, from samples to the page and the picture.
class IoReportTest < Minitest::Test
  UPWELL, ASYNC, EVT = %w[upwell-epoll async-epoll evt-epoll].map { |name| Bench::Io::SCHEDULERS.find { |each| each.name == name } }

  def table
    Bench::WorkloadSamples.new(Bench::Io::WORKLOADS.first, nil).tap do |table|
      [200_000.0, 150_000.0, 160_000.0].each { |rate| table.add(UPWELL, Bench::Io::WorkloadProcess::Sample.new(rate, 3.0, 1.0, 1_048_576)) }
      table.add(ASYNC, Bench::Io::WorkloadProcess::Sample.new(80_000.0, 7.0, 3.0, 2_097_152))
      table.fail(EVT, "does not end")
    end
  end

  def test_the_page_has_what_a_task_takes_and_nothing_of_load
    text = Bench::Report.new([table], facts: {}, servers: {}, chart: "x.svg").to_s
    assert_includes text, <<~MARKDOWN
      ## Ping-pong through two pipes

      | candidate | round trips/s (min, max) | to best peer | CPU µs/round trip (min, max) | to best peer | user + system | its core | peak MiB |
      | --- | --- | --- | --- | --- | --- | --- | --- |
      | upwell-epoll | 160000 (150000, 200000) | 2.00 | 4.0 (4.0, 4.0) | 0.40 | 3.0 + 1.0 | 64 % | 1 |
      | async-epoll | 80000 (80000, 80000) | 1.00 | 10.0 (10.0, 10.0) | 1.00 | 7.0 + 3.0 | 80 % | 2 |
      | evt-epoll | does not end | – | – | – | – | – | – |
    MARKDOWN
  end

  def test_the_picture_has_one_bar_a_candidate_and_the_units
    chart = REXML::Document.new(Bench::Chart.new([table], title: "x").to_s)
    texts = REXML::XPath.match(chart, "//*[local-name()='text']").map(&:text)
    assert_includes texts, "round trips/s (more is better)"
    assert_includes texts, "CPU µs/round trip (less is better)"
    assert_equal 1 + (2 * 2), REXML::XPath.match(chart, "//*[local-name()='rect']").size, "the background, two candidates, two panels"
  end
end
