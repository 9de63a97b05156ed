# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/opal_process"
require_relative "../support/websocket_run"

# What RFC 6455 and RFC 7692 want, on each JavaScript runtime. What the runtimes that frame WebSockets themselves do otherwise is theirs to
# change: it is listed, and has to be as it is listed.
class OpalWebSocketConformanceTest < Minitest::Test
  CASES_MIN = 500
  PROBLEMS_SHOWN = 20
  DEFLATE = WebSocketCases::DEFLATE

  # Cases by their ids, and what goes wrong in each.
  DEVIATIONS = {
    "up_node" => {},
    "up" => {},
    "up_bun" => {}
  }.freeze

  OpalProcess::RUNTIMES.each do |command|
    define_method(:"test_each_case_on_#{command}") do
      OpalProcess.open(command, app: "websocket_echo.ru") do |server|
        check_cases(server, DEVIATIONS.fetch(command))
        assert_predicate server.stop, :success?
      end
    end
  end

  private

  def check_cases(server, deviations)
    assert_operator WebSocketCases.all.size, :>, CASES_MIN
    [nil, DEFLATE].each do |offer|
      run = WebSocketRun.new(server.port, offer: offer)
      deviating, others = WebSocketCases.all.partition { |one| deviations.keys.any? { |ids| ids.match?(one.id) } }
      assert_equal "", run.problems(others).first(PROBLEMS_SHOWN).join("\n")
      deviating.each { |one| check_deviation(run, one, deviations.find { |ids, _| ids.match?(one.id) }.last) }
    end
  end

  def check_deviation(run, one, expected)
    assert_match(/\A#{Regexp.escape(one.id)}: .*#{expected}/, run.problems([one]).first.to_s)
  end
end
