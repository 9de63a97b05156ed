# frozen_string_literal: true

require_relative "server_checks"

# Whoever asks too often is told so, and no one else; whatever takes too long is ended, and the next is served.
class MiddlewareChecks < ServerChecks
  LIMIT = 5 # of rack-attack

  def check_attack
    crowd do |client, marker|
      statuses = Array.new(LIMIT + 2) { |i| client.request(Net::HTTP::Get.new("/marker?m=attack-#{marker}.#{i}")).code }
      test.assert_equal [*["200"] * LIMIT, "429", "429"], statuses
    end
  end

  def check_timeout
    ConcurrentClients::Client.open(server.port) do |client|
      test.assert_equal "500", client.request(Net::HTTP::Get.new("/hold?m=late&seconds=30")).code
      test.assert_equal "next", client.get("/marker?m=next")
    end
  end

  private

  def log
    server.lines.grep_v(/Timeout|^\s/) # and where it was raised
  end
end
