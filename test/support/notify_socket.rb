# frozen_string_literal: true

require "socket"
require "timeout"

# What systemd is for a service: a datagram socket that hears its messages.
class NotifySocket
  PATIENCE = 60 # seconds
  BYTES = 4096

  # @return [String] as in NOTIFY_SOCKET
  attr_reader :address
  # @return [Array<Hash{String => String}>] the messages so far
  attr_reader :messages

  # @param address [String] a path, or "@" and a name
  def self.open(address)
    heard = new(address)
    yield heard
  ensure
    heard&.close
  end

  def initialize(address)
    @address = address
    @messages = []
    @socket = Socket.new(:UNIX, :DGRAM)
    @socket.bind(Socket.sockaddr_un(address.sub(/\A@/, "\0")))
  end

  # @return [Hash{String => String}] the next message that has what is asked for
  def await(name, value = //)
    Timeout.timeout(PATIENCE) do
      loop do
        message = receive(@socket.recv(BYTES))
        return message if message[name]&.match?(value)
      end
    end
  rescue Timeout::Error
    raise "#{name} #{value.inspect} was not among #{messages}"
  end

  # @return [Array<Hash{String => String}>] all that has come meanwhile
  def rest
    loop do
      text = @socket.recv_nonblock(BYTES, exception: false)
      return messages if text == :wait_readable

      receive(text)
    end
  end

  def close
    @socket.close
  end

  private

  def receive(text)
    messages << text.lines(chomp: true).to_h { |line| line.split("=", 2) }
    messages.last
  end
end
