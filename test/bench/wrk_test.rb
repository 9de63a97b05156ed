# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../bench/lib/wrk"

class WrkTest < Minitest::Test
  OUTPUT = <<~TEXT
    Running 5s test @ http://127.0.0.1:3000/
      1 threads and 64 connections
      Thread Stats   Avg      Stdev     Max   +/- Stdev
        Latency     1.04ms  301.00us   4.30ms   85.77%
        Req/Sec    93.25k     8.46k  105.07k    77.50%
      Latency Distribution
         50%  544.00us
         75%  720.00us
         90%    0.99ms
         99%    1.80s
      370883 requests in 5.10s, 39.97MB read
      Socket errors: connect 1, read 20, write 300, timeout 4000
      Non-2xx or 3xx responses: 77
    Requests/sec:  92631.75
    Transfer/sec:      9.98MB
  TEXT

  def test_reads_all_figures
    result = Bench::Wrk.parse(OUTPUT, 4.5)
    assert_equal [370_883, 5.1, 92_631.75, 0.544, 1800.0, 4321, 77, 4.5, 39.97 * 1_048_576], result.to_a
  end

  def test_silence_about_errors_means_none
    result = Bench::Wrk.parse(OUTPUT.lines.grep_v(/Socket errors|Non-2xx/).join, 0)
    assert_equal [0, 0], [result.socket_errors, result.bad_statuses]
  end

  def test_runs_may_take_minutes
    assert_in_delta 66, Bench::Wrk.parse(OUTPUT.sub("in 5.10s", "in 1.10m"), 0).seconds
  end

  def test_refuses_what_is_no_result
    error = assert_raises(Bench::Wrk::Error) { Bench::Wrk.parse("unable to connect", 0) }
    assert_includes error.message, "unable to connect"
  end

  def test_command_has_the_headers
    command = Bench::Wrk.command(url: "u", connections: 1, seconds: 1, headers: { "Range" => "bytes=0-9" })
    assert_equal ["-H", "Range: bytes=0-9", "u"], command.last(3)
  end

  def test_command_names_the_script_only_if_there_is_one
    options = { url: "http://127.0.0.1:1/", connections: 64, seconds: 5 }
    assert_equal %w[taskset -c 1 wrk --latency -t1 -c64 -d5s http://127.0.0.1:1/], Bench::Wrk.command(**options)
    assert_equal %w[taskset -c 1 wrk --latency -t1 -c64 -d5s -s post.lua http://127.0.0.1:1/], Bench::Wrk.command(**options, script: "post.lua")
  end
end
