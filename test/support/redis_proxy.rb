# frozen_string_literal: true

require "fileutils"
require "socket"
require "tmpdir"

# A way to a Redis that can be shut: its connections end, and no new ones begin. Others reach the same Redis meanwhile.
class RedisProxy
  CHUNK = 64 * 1024 # bytes

  # @param redis [RedisProcess]
  # @yieldparam gate [RedisProxy]
  def self.open(redis)
    gate = new(redis)
    gate.open
    yield gate
  ensure
    gate&.close
  end

  # @param redis [RedisProcess]
  def initialize(redis)
    @redis = redis
    @dir = Dir.mktmpdir("gate")
    @lock = Mutex.new
    @sockets = []
    @threads = []
    @refused = nil
  end

  # @return [String]
  def url
    "unix://#{path}"
  end

  # @param command [String, nil] a connection ends at this command
  def open(refused: nil)
    @refused = refused
    return if @server

    @server = UNIXServer.new(path)
    start(@server) { |server| accept_from(server) }
  end

  def shut
    @server&.close
    @server = nil
    FileUtils.rm_f(path)
    cut
  end

  # Ends the connections there are.
  def cut
    sockets = @lock.synchronize { @sockets.tap { @sockets = [] } }
    sockets.each { |socket| end_socket(socket) }
  end

  def close
    shut
    @threads.each { |thread| thread.kill.join }
    FileUtils.rm_rf(@dir)
  end

  private

  def path
    File.join(@dir, "redis")
  end

  def accept_from(server)
    loop { let_in(server.accept) }
  rescue IOError
    nil # it was shut
  end

  def let_in(client)
    redis = UNIXSocket.new(@redis.url.delete_prefix("unix://"))
    @lock.synchronize { @sockets.push(client, redis) }
    start { pass(client, redis) }
    start { pass(redis, client) }
  rescue SystemCallError
    client.close
  end

  def pass(from, to)
    loop do
      bytes = from.readpartial(CHUNK)
      break if @refused && bytes.include?(@refused)

      to.write(bytes)
    end
  rescue SystemCallError, IOError
    nil # one of them has ended
  ensure
    [from, to].each { |socket| end_socket(socket) }
  end

  def end_socket(socket)
    socket.shutdown
  rescue SystemCallError, IOError
    nil # it has ended already
  end

  def start(*arguments, &work)
    @threads << Thread.new(*arguments, &work).tap { |thread| thread.report_on_exception = false }
  end
end
