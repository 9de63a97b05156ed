# frozen_string_literal: true

# Chat rooms over WebSockets: bundle exec upwell -w 2 examples/chat_rooms/config.ru
#
# What one says is published, and the core hands it to everyone in the room, whichever worker serves them.

require "tmpdir"
require_relative "guest_handler"
require_relative "room_store"

PAGE = File.read(File.join(__dir__, "index.html"))
ROOMS = RoomStore.new(File.join(Dir.tmpdir, "upwell_chat_rooms.#{Process.uid}"))

# Pages of other sites may not speak in the name of who looks at them.
def foreign?(env)
  env["HTTP_ORIGIN"] ? env["HTTP_ORIGIN"].sub(%r{\Ahttps?://}, "") != env["HTTP_HOST"] : false
end

def enter(env)
  return [403, {}, []] if foreign?(env)

  query = Rack::Utils.parse_query(env["QUERY_STRING"])
  room, name = query.values_at("room", "name").map { |value| value.to_s.scrub.strip }
  return [400, {}, []] unless RoomStore::NAME.match?(room) && GuestHandler::NAME.match?(name)

  env["rack.upgrade"] = GuestHandler.new(ROOMS, room, name)
  [101, {}, []]
rescue ArgumentError # not the form of a query
  [400, {}, []]
end

run lambda { |env|
  next enter(env) if env["rack.upgrade?"] == :websocket
  next [404, {}, []] unless env["PATH_INFO"] == "/"

  [200, { "content-type" => "text/html; charset=utf-8" }, [PAGE]]
}
