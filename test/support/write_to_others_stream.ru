# frozen_string_literal: true

# A stream that other requests write to while its own waits for its client. Each path is a method's name.
class WriteToOthersStream
  PIECE = "#{"x" * 99_999}\n".freeze
  PIECES = 200 # more than the kernel takes without a reader

  def initialize
    @tries = 0
    @published = Queue.new
  end

  def call(env)
    send(env["PATH_INFO"].delete_prefix("/"))
  end

  private

  def subscribe
    [200, {}, lambda { |stream|
      @stream = stream
      PIECES.times { stream.write(PIECE) }
      @published.pop
      stream.close
    }]
  end

  def publish
    [200, {}, [write]]
  end

  def publish_from_stream
    [200, {}, ->(stream) { stream.write(write) && stream.close }]
  end

  def tries
    [200, {}, [@tries.to_s]]
  end

  def write
    @tries += 1
    @stream.write("published\n")
    "published"
  rescue IOError => e
    e.message
  ensure
    @published << true
  end
end

run WriteToOthersStream.new
