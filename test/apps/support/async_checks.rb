# frozen_string_literal: true

require_relative "websocket_checks"

# And an application that asks another server, itself, while it answers.
class AsyncChecks < WebSocketChecks
  def check_asks
    crowd(clients: 3) { |client, marker| test.assert_equal marker, client.get("/ask?m=#{marker}") }
  end
end
