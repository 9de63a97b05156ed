# frozen_string_literal: true

# Someone who is connected.
class Guest
  LINE_BYTES_MAX = 1024

  attr_reader :socket, :name, :timer

  def initialize(socket, name)
    @socket = socket
    @name = name
    @timer = [:silent, self]
    @input = +""
  end

  # @return [Array<String>, nil] the lines that are whole; nil when the guest has left, or does not end a line
  def read
    bytes = @socket.read_nonblock(LINE_BYTES_MAX, exception: false)
    return [] if bytes == :wait_readable

    @input << bytes if bytes
    lines = @input.slice!(/\A.*\n/m).to_s.lines
    lines if bytes && @input.bytesize <= LINE_BYTES_MAX
  rescue SystemCallError
    nil
  end

  # A guest who does not read misses something: nobody waits for them.
  def tell(line)
    @socket.write_nonblock(line, exception: false)
  rescue SystemCallError
    nil
  end
end
