# frozen_string_literal: true

require "socket"

# What a client sees on the wire of a request and of one that follows it, in one line: "103 link=</a>, 200 abc, next".
#
# Each response is its status and its content, `cut` where its framing promised more. At the end comes `next` when a second
# request on the same connection was answered, `closed` when the connection was ended, `hangs` when nothing came in time.
class WireTrace
  WAIT_MAX = 60 # seconds, shorter than the server's own time-outs
  NEXT = "GET /next HTTP/1.1\r\nHost: a\r\n\r\n"
  Ended = Class.new(StandardError)
  Late = Class.new(StandardError)

  # @return [String] the head of the last response, as it came
  attr_reader :head

  def initialize(port, request, head_request: false)
    @socket = TCPSocket.new("127.0.0.1", port)
    @buffer = +"".b
    @head_request = head_request
    @head = ""
    @socket.write(request)
  end

  def to_s
    @to_s ||= observe
  ensure
    @socket.close
  end

  private

  def observe
    @seen = []
    read_responses
    @head_request = false
    @raw ? "#{@seen.join(", ")}, closed" : "#{@seen.join(", ")}, #{follow}"
  rescue Ended
    @seen << "nothing" if @seen.empty?
    "#{@seen.join(", ")}, closed"
  rescue Late
    [*@seen, "hangs"].join(", ")
  end

  def read_responses
    loop do
      status = read_head
      @seen << status.to_s
      return read_content(status) if status == 101 || status > 199

      @seen.last << (link = @head[/^link: (.*)\r$/i, 1] and " link=#{link}").to_s
    end
  end

  # What is not a response begins as something else: it is told as it came.
  def read_head
    line = read_line
    return read_raw("#{line}\r\n") unless line.match?(/\AHTTP\/1\.1 \d{3} /)

    @head = "#{line}\r\n"
    @head << "#{line = read_line}\r\n" until line.empty?
    @head[/\d{3}/].to_i
  end

  def read_raw(first)
    @seen << "raw #{(first + read_to_end).inspect}"
    raise Ended
  end

  def read_content(status)
    return if @head_request || [204, 304].include?(status)

    content = +""
    read_framed(content)
  rescue Ended
    @seen.last << " #{content} cut"
    raise
  else
    @seen.last << (content.empty? ? "" : " #{content}")
  end

  def read_framed(content)
    if (length = @head[/^content-length: (\d+)\r$/i, 1]&.to_i) then read_length(length, content)
    elsif @head.match?(/^transfer-encoding: chunked\r$/i) then read_chunks(content)
    else
      content << read_to_end
      @raw = true
    end
  end

  def read_chunks(content)
    loop do
      size = read_line
      raise "chunk size #{size.inspect}" unless size.match?(/\A\h+\z/)

      read_length(size.to_i(16), content)
      raise "a chunk without its end" unless read_line.empty?
      return if size.to_i(16).zero?
    end
  end

  # @return [String] what becomes of a second request
  def follow
    first = @head
    @socket.write(NEXT)
    status = read_head
    read_framed(content = +"")
    status == 200 && content == "next" ? "next" : "then #{status} #{content}"
  rescue Errno::EPIPE, Errno::ECONNRESET
    "closed"
  ensure
    @head = first
  end

  def read_line
    fill until (stop = @buffer.index("\r\n"))
    @buffer.slice!(0, stop + 2).delete_suffix("\r\n")
  rescue Ended
    raise if @buffer.empty?

    @seen << "raw #{@buffer.inspect}"
    raise
  end

  def read_length(length, content)
    while length.positive?
      fill if @buffer.empty?
      piece = @buffer.slice!(0, length)
      content << piece
      length -= piece.bytesize
    end
  end

  def read_to_end
    content = @buffer.slice!(0, @buffer.bytesize)
    begin
      loop { fill }
    rescue Ended
      content << @buffer.slice!(0, @buffer.bytesize)
    end
  end

  def fill
    raise Late unless @socket.wait_readable(WAIT_MAX)

    @buffer << @socket.readpartial(65_536)
  rescue EOFError, Errno::ECONNRESET
    raise Ended
  end
end
