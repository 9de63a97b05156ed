# frozen_string_literal: true

# A chat: what one says, all others read. Whoever is silent for too long has to leave. ruby examples/chat/server.rb [PORT [SECONDS]]
#
# A guest is the key of the socket; the guest's timer has a key of its own.

require "socket"
require "upwell"
require_relative "guest"

# The guests and the events that concern them.
class Chat
  def initialize(events, patience)
    @events = events
    @patience = patience
    @guests = []
    @arrivals = 0
  end

  def welcome(socket)
    guest = Guest.new(socket, "guest #{@arrivals += 1}")
    @events.watch_io(guest, socket, false, false)
    @events.watch_timer(guest.timer, @patience)
    @guests << guest
    tell_all("#{guest.name} is here\n")
  end

  def hear(guest)
    lines = guest.read or return dismiss(guest, "has left")
    return if lines.empty?

    @events.unwatch(guest.timer).watch_timer(guest.timer, @patience)
    lines.each { |line| tell_all("#{guest.name}: #{line}", except: guest) }
  end

  def dismiss(guest, reason)
    @events.unwatch(guest.timer).unwatch(guest)
    @guests.delete(guest)
    guest.socket.close
    tell_all("#{guest.name} #{reason}\n")
  end

  private

  def tell_all(line, except: nil)
    @guests.each { |guest| guest.tell(line) unless guest == except }
  end
end

events = Upwell::Loop.new
server = TCPServer.new("127.0.0.1", Integer(ARGV.fetch(0, 8082)))
chat = Chat.new(events, Float(ARGV.fetch(1, 300)))

events.watch_io(:accept, server, false, false)
%w[INT TERM].each { |name| trap(name) { events.stop } }
puts "listening on 127.0.0.1:#{server.addr[1]}"
$stdout.flush
events.each do |event|
  case event
  when :accept
    while (socket = server.accept_nonblock(exception: false)) != :wait_readable
      chat.welcome(socket)
    end
  when Guest then chat.hear(event)
  else chat.dismiss(event.last, "was silent for too long") # its timer
  end
end
