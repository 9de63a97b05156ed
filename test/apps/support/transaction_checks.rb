# frozen_string_literal: true

require_relative "server_checks"

# An application with a database, of which each request needs a connection of its own.
class TransactionChecks < ServerChecks
  # What is rolled back is not there later, and the rest is, whoever works on the same table meanwhile.
  def check_transactions
    crowd(clients: 4) do |client, marker|
      undo = marker.end_with?("1", "3", "5", "7", "9")
      found = client.checked(client.post("/transaction?m=#{mode}-#{marker}", undo ? { "undo" => "1" } : {}))
      test.assert_equal undo ? "0" : "2", found
    end
    whole = ConcurrentClients::Client.open(server.port) { |client| client.get("/halves") }
    test.assert_equal "", whole
  end
end
