# frozen_string_literal: true

require "socket"

# Fifty pairs of connected sockets; in each, one end sends messages of 1 KB and the other sends them back.
class SocketPairs
  PAIRS = 50
  MESSAGES = 100 # a pair
  MESSAGE = ("m" * 1024).freeze

  attr_reader :done

  def initialize
    @pairs = Array.new(PAIRS) { UNIXSocket.pair }
    @done = 0
  end

  def operations
    PAIRS * MESSAGES
  end

  def start(concurrency)
    @pairs.each do |near, far|
      concurrency.spawn { MESSAGES.times { far.write(far.read(MESSAGE.bytesize)) } }
      concurrency.spawn { MESSAGES.times { exchange(near) } }
    end
  end

  def close
    @pairs.flatten.each(&:close)
  end

  private

  def exchange(socket)
    socket.write(MESSAGE)
    @done += 1 if socket.read(MESSAGE.bytesize) == MESSAGE
  end
end
