# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../bench/lib/ab"

class AbTest < Minitest::Test
  OUTPUT = <<~TEXT
    Concurrency Level:      1000
    Time taken for tests:   1.250 seconds
    Complete requests:      100000
    Failed requests:        3
       (Connect: 0, Receive: 1, Length: 2, Exceptions: 0)
    Non-2xx responses:      7
    Keep-Alive requests:    100000
    Total transferred:      125000000 bytes
    HTML transferred:       102400000 bytes
    Requests per second:    80000.00 [#/sec] (mean)
    Transfer rate:          97656.25 [Kbytes/sec] received

    Percentage of the requests served within a certain time (ms)
      50%     12
      66%     13
      99%     40
     100%     55 (longest request)
  TEXT

  def test_reads_all_figures
    assert_equal [100_000, 1.25, 80_000.0, 12.0, 40.0, 3, 7, 0.5, 125_000_000.0], Bench::Ab.parse(OUTPUT, 0.5).to_a
  end

  def test_silence_about_bad_statuses_means_none
    assert_equal 0, Bench::Ab.parse(OUTPUT.lines.grep_v(/Non-2xx/).join, 0).bad_statuses
  end

  def test_command_keeps_connections_and_has_the_headers
    assert_equal %w[taskset -c 1 ab -q -k -n 100000 -c 1000 -H] + ["Range: bytes=0-9", "u"],
                 Bench::Ab.command(url: "u", connections: 1000, headers: { "Range" => "bytes=0-9" })
  end
end
