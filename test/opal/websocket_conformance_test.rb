# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/opal_runtimes"
require_relative "../support/websocket_case_runner"

# What RFC 6455 and RFC 7692 want, on each JavaScript runtime. What the runtimes that frame WebSockets themselves do otherwise is theirs to
# change: it is listed, and has to be as it is listed.
class OpalWebSocketConformanceTest < Minitest::Test
  CASES_MIN = 500
  PROBLEMS_SHOWN = 20
  DEFLATE = WebSocketCases::DEFLATE

  # Who frames WebSockets themselves cut the connection at a breach, and what they would have sent before; messages that came before have been
  # told to the application.
  CUT = /an end without a close|Connection reset|does not read any more/
  # By ids, what may go wrong in a case.
  DEVIATIONS = {
    "up_node" => {},
    "up" => {
      /\A(?:2\.5|[345]\.|6\.|7\.3\.6|no mask|an? .*length|one byte|deflate)/ => CUT,
      /\A(?:7|close)/ => /close  0 bytes/, # a code that it does not know is answered with none
      /\A1[23]\./ => /was agreed upon/, # it writes the parameters in another order
      /\A(?:no mask of a close|deflate: RSV1 of a close)/ => /close 1000/, # whoever closes is let go, whatever the frame is like
      /\Adeflate: RSV1 of a ping/ => /pong/
    },
    "up_bun" => {
      /\A1[23]\./ => /was agreed upon/,
      /\Aa length of 2 to the 63rd/ => /close 1009/,
      /\Aa short length in 16 bits/ => /text  125 bytes/ # it takes lengths that are longer written than they need be
    }
  }.freeze
  # Where a runtime goes on waiting, and the client, too: it takes what is wrong for the start of more.
  WAITING = /\A(?:6\.4\.|a short length in 64 bits|one byte too large with)/
  WAITS = { "up" => WAITING, "up_bun" => WAITING }.freeze

  include OpalRuntimes

  OpalProcess::RUNTIMES.each_key do |command|
    define_method(:"test_each_case_on_#{command}") do
      need(command)
      OpalProcess.open(command, app: "websocket_echo.ru") do |server|
        [nil, DEFLATE].each { |offer| check_cases(WebSocketCaseRunner.new(server.port, offer: offer), command) }
        assert_predicate server.stop, :success?
      end
    end
  end

  private

  def check_cases(run, command)
    cases = WebSocketCases.all.grep_v(->(one) { WAITS[command]&.match?(one.id) })
    assert_operator cases.size, :>, CASES_MIN
    unexpected = DEVIATIONS.fetch(command).inject(run.problems(cases)) do |problems, (ids, wrong)|
      expected, others = problems.partition { |problem| ids.match?(problem) && wrong.match?(problem) }
      refute_empty expected, "nothing goes wrong any more in #{ids}: strike it out"
      others
    end
    assert_equal "", unexpected.first(PROBLEMS_SHOWN).join("\n")
  end
end
