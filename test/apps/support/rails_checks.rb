# frozen_string_literal: true

require "json"
require_relative "node_clients"
require_relative "transaction_checks"

# What a Rails application can lose or mix up.
class RailsChecks < TransactionChecks
  ROOMS = 5
  MESSAGES = 20 # of each client in a room

  # The forms of a scaffold, with session, token against forgery, redirection and message.
  def check_scaffold
    crowd do |client, marker|
      page = client.get("/notes/new")
      response = client.post("/notes", "authenticity_token" => form_token(page), "note[title]" => marker, "note[body]" => "body of #{marker}")
      test.assert_equal "302", response.code, response.body
      path = URI(response["location"]).path
      shown = client.get(path)
      test.assert_includes shown, "<h1>#{marker}</h1><p>body of #{marker}</p>"
      test.assert_includes shown, "Note was successfully created."
      test.assert_equal "303", client.post(path, "_method" => "delete", "authenticity_token" => page_token(page)).code
    end
  end

  def check_events
    crowd { |client, marker| test.assert_equal Array.new(3) { |i| "data: #{marker} #{i}\n\n" }.join, client.get("/events?m=#{marker}") }
  end

  def check_cable
    NodeClients.run("cable.js", TLSOption.url("ws", "127.0.0.1:#{server.port}/cable"), ROOMS.to_s, MESSAGES.to_s)
  end

  # Nor is what a lost response has found in the database all that is ever found.
  def check_jobs
    ConcurrentClients::Client.open(server.port) do |client|
      lost = client.request(Net::HTTP::Get.new("/performed?m=job", "drop" => "1"))
      test.assert_equal "404", lost.code
      client.checked(client.post("/enqueue?m=job", {}))
      Timeout.timeout(ConcurrentClients::READ_MAX) { sleep 0.02 until client.get("/performed?m=job") == "1" } # no event tells it
    end
  end

  # After all that every connection is back, and none was refused.
  def check_zz_pool
    statistics = ConcurrentClients::Client.open(server.port) { |client| JSON.parse(client.get("/pool")) }
    test.assert_equal [0, 0, 0], statistics.values_at("busy", "dead", "waiting"), statistics
  end

  private

  # Of one form, and of the whole page.
  def form_token(page)
    page[/name="authenticity_token" value="([^"]+)"/, 1]
  end

  def page_token(page)
    page[/name="csrf-token" content="([^"]+)"/, 1]
  end
end
