# frozen_string_literal: true

# The HTTP server of loop.rb on nio4r's selector:
#   ruby -r nio nio4r.rb PORT

require "socket"
require_relative "../nonblocking_http_connection"

# A connection's monitor lives as long as it; its interests change while the client does not keep up.
class Nio4rServer
  def initialize(port)
    @server = TCPServer.new("127.0.0.1", port)
    @server.listen(Socket::SOMAXCONN)
    @selector = NIO::Selector.new
  end

  def run
    @selector.register(@server, :r)
    loop { @selector.select { |monitor| monitor.value ? progress(monitor) : accept } }
  end

  private

  def accept
    socket = @server.accept_nonblock(exception: false)
    watch(NonblockingHTTPConnection.new(socket)) unless socket == :wait_readable
  end

  def watch(connection)
    @selector.register(connection.io, :r).value = connection
    connection.awaited = :read
  end

  def progress(monitor)
    connection = monitor.value
    case (wanted = connection.progress)
    when connection.awaited then nil
    when :close then close(monitor)
    else await(monitor, wanted)
    end
  end

  def await(monitor, wanted)
    monitor.interests = wanted == :write ? :w : :r
    monitor.value.awaited = wanted
  end

  def close(monitor)
    monitor.close
    monitor.io.close
  end
end

Nio4rServer.new(Integer(ARGV.first, 10)).run
