# frozen_string_literal: true

require "rack"
require "rack/attack"

# A store of its own, as ActiveSupport's is not needed.
class Store
  def initialize = @counts = {}
  def read(key) = @counts[key]
  def write(key, value, _options = {}) = @counts[key] = value
  def increment(key, amount = 1, _options = {}) = @counts[key] = @counts.fetch(key, 0) + amount
  def delete(key) = @counts.delete(key)
  def delete_matched(*) = @counts.clear
end

Rack::Attack.cache.store = Store.new
Rack::Attack.throttle("by name", limit: 3, period: 100_000_000) { |request| request.params["name"] }
Rack::Attack.blocklist("bad agents") { |request| request.user_agent.to_s.include?("Bad") }
Rack::Attack.safelist("friends") { |request| request.params["friend"] == "yes" }
Rack::Attack.blocklist_ip("5.6.7.0/24")
Rack::Attack.throttled_responder = lambda do |request|
  found = request.env["rack.attack.match_data"]
  [429, { "content-type" => "text/plain" }, ["#{request.env["rack.attack.matched"]} #{found[:count]} of #{found[:limit]}"]]
end
use Rack::Attack
run ->(env) { [200, { "content-type" => "text/plain" }, ["welcome #{env["rack.attack.match_type"].inspect.delete(":").delete("\"")}"]] }
