# frozen_string_literal: true

require_relative "allowed_outcomes"
require_relative "client_connection"

module RequestIsolation
  # One request, and what may come of it: it reads its own response and raises Violation at the first byte that is not
  # allowed to be there.
  class CheckedRequest
    ERROR = "500 Internal Server Error\n"
    HEAD_LINES_MAX = 50

    attr_reader :id, :act, :text

    # @param options [Hash] count: how often the text has the token; verb; version; content; seed
    def initialize(id, act, count:, seed:, verb: "GET", version: "1.1", content: false)
      @id = id
      @act = act
      @count = count
      @count = count
      @seed = seed
      @verb = verb
      @version = version
      @content = content
      @text = "#{id};" * count
    end

    def outcome
      ACTS.fetch(act).outcome
    end

    # @return [Array<String>] the head, and the content in pieces if there is any
    def wire_text
      head = "#{@verb} /#{act}/#{id}?count=#{@count}&seed=#{@seed} HTTP/#{@version}\r\nHost: isolation\r\n"
      return ["#{head}\r\n"] unless @content
      return ["#{head}Content-Length: #{text.bytesize}\r\n\r\n", text] if @content == :sized

      ["#{head}Transfer-Encoding: chunked\r\n\r\n", *chunks]
    end

    # @yield after each piece of the response, so that a slow client can wait
    # @return [Boolean] whether the connection goes on
    def read(wire, &pace)
      @pace = pace
      @from = wire.received
      read_response(wire)
    rescue ClientConnection::Ended
      raise unless %i[broken cut].include?(outcome)

      false
    end

    # Whether the end of the process may cut it.
    def aside?
      ACTS.fetch(act).aside
    end

    # Whether the server may have kept its response to itself, for not a byte of it has come.
    def unanswered?(wire)
      wire.received == @from
    end

    def to_s
      "#{@verb} #{act} #{id} count=#{@count} seed=#{@seed} HTTP/#{@version}#{" #{@content}" if @content}"
    end

    private

    def chunks
      text.scan(/.{1,5000}/m).map { |piece| "#{piece.bytesize.to_s(16)}\r\n#{piece}\r\n" } << "0\r\n\r\n"
    end

    def demand(fine, what)
      raise Violation, "#{what}, in answer to #{self}" unless fine
    end

    def allowed_status?(status)
      case outcome
      when :error then status == 500
      when :empty then [204, 304].include?(status)
      when :broken, :cut then [200, 500].include?(status)
      else status == 200
      end
    end

    def read_response(wire)
      status, headers = read_head(wire)
      demand(allowed_status?(status), "status #{status}")
      status == 500 ? read_error(wire, headers) : read_text(wire, status, headers)
    end

    # The final head; early hints before it are this client's own.
    def read_head(wire)
      loop do
        line = wire.line
        status = line[/\AHTTP\/1\.1 (\d{3}) /, 1].to_i
        demand(status.positive?, "#{line[0, 200].inspect} instead of a status line")
        headers = read_headers(wire)
        return [status, headers] unless status.between?(100, 199)

        demand(status == 103 && [{}, { "link" => id }].include?(headers), "interim response #{status} with #{headers}")
      end
    end

    def read_headers(wire)
      headers = {}
      HEAD_LINES_MAX.times do
        line = wire.line
        return headers if line.empty?

        name, value = line.split(": ", 2)
        demand(value && !headers.key?(name.downcase), "header line #{line.inspect}")
        headers[name.downcase] = value
      end
      demand(false, "a head without an end")
    end

    def read_error(wire, headers)
      body = +""
      wire.read(headers["content-length"].to_i) { |piece| body << piece }
      demand(!headers.key?("x-id") && body == (@verb == "HEAD" ? "" : ERROR), "an error response of #{headers} #{body[0, 200].inspect}")
      goes_on?(headers)
    end

    def read_text(wire, status, headers)
      demand(headers["x-id"] == id, "headers of another: #{headers}")
      @place = 0
      bodiless = @verb == "HEAD" || [204, 304].include?(status)
      read_body(wire, headers) unless bodiless
      check_end(headers) unless bodiless
      goes_on?(headers) && outcome != :cut
    end

    # It came to the end that its framing tells; without one, where the connection ended.
    def check_end(headers)
      raise ClientConnection::Ended, "end" if outcome == :whole && !framed?(headers) && @place < text.bytesize

      demand(@place == text.bytesize, "only #{@place} of #{text.bytesize} bytes") if outcome == :whole
      demand(!framed?(headers), "a whole response") if outcome == :broken
    end

    def framed?(headers)
      headers.key?("content-length") || headers.key?("transfer-encoding")
    end

    def goes_on?(headers)
      headers["connection"] != "close" && framed_or_empty?(headers)
    end

    def framed_or_empty?(headers)
      framed?(headers) || outcome == :empty || @verb == "HEAD"
    end

    def read_body(wire, headers)
      if headers["transfer-encoding"] == "chunked" then read_chunks(wire)
      elsif headers["content-length"] then wire.read(headers["content-length"].to_i) { |piece| match(piece) }
      else read_to_end(wire)
      end
    end

    def read_chunks(wire)
      loop do
        line = wire.line
        demand(line.match?(/\A\h{1,8}\z/), "chunk size #{line.inspect}")
        wire.read(line.to_i(16)) { |piece| match(piece) }
        break if line.to_i(16).zero?

        expect_empty(wire)
      end
      expect_empty(wire)
    end

    def expect_empty(wire)
      line = wire.line
      demand(line.empty?, "#{line[0, 200].inspect} where a chunk ends")
    end

    def read_to_end(wire)
      loop { match(wire.read_some) }
    rescue ClientConnection::Ended => e
      raise unless e.message == "end"
    end

    def match(piece)
      wanted = text.byteslice(@place, piece.bytesize)
      demand(false, "#{difference(piece, wanted.to_s)} at byte #{@place}") if piece != wanted
      @place += piece.bytesize
      @pace&.call
    end

    def difference(piece, wanted)
      at = piece.each_byte.with_index.find { |byte, index| byte != wanted.getbyte(index) }.last
      "foreign bytes: #{piece.byteslice([at - 20, 0].max, 200).inspect} instead of #{wanted.byteslice([at - 20, 0].max, 60).inspect}"
    end
  end
end
