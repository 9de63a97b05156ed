# frozen_string_literal: true

require_relative "client"

module Bench
  # What clients do to a server that serves apps/soak.ru: some behave, most leave at a stage where a server has something to give back.
  # Those that behave raise Client::Error when the answer is not the right one.
  class ClientBehaviors
    BODY = ("x" * 200_000).freeze # more than Upwell keeps in memory
    POST = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: #{BODY.bytesize}\r\n\r\n".freeze
    CHUNKED_POST = "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    CHUNK = "1000\r\n#{"x" * 0x1000}\r\n".freeze
    LARGE_SIZE = 1_048_576
    SLOW_RECEIVE_BUFFER = 8_192
    SLOW_READ_SIZE = 65_536
    PAUSE = 0.005 # seconds

    KINDS = %i[keep_alive pipeline post chunked_post half_close read_slowly leave_in_head leave_in_body leave_in_chunk leave_in_response
               leave_in_stream leave_in_pipeline leave_while_idle reset_in_head reset_in_body reset_in_response reset_in_stream].freeze

    def initialize(crowd, port, random)
      @crowd = crowd
      @port = port
      @random = random
    end

    # @param kind [Symbol] one of {KINDS}
    def make(kind = KINDS.sample(random: @random))
      send(kind)
    end

    private

    def keep_alive
      visit { |client| 5.times { |_| ask(client, "/", "0") } }
    end

    def pipeline
      visit do |client|
        client.write(format(Client::GET, "/") * 16)
        16.times { expect(client.answer, "0") }
      end
    end

    def post
      visit do |client|
        client.write(POST + BODY)
        expect(client.answer, BODY.bytesize.to_s)
      end
    end

    def chunked_post
      visit do |client|
        client.write(CHUNKED_POST + (CHUNK * 20) + "0\r\n\r\n")
        expect(client.answer, (20 * 0x1000).to_s)
      end
    end

    def half_close
      visit do |client|
        client.get("/")
        client.half_close
        expect(client.answer, "0")
      end
    end

    def read_slowly
      visit(receive_buffer: SLOW_RECEIVE_BUFFER) do |client|
        client.get("/large")
        read = 0
        while read < LARGE_SIZE
          @crowd.rest(PAUSE)
          read += client.read(SLOW_READ_SIZE) || raise(Client::Error, "a slow reader was cut off after #{read} bytes")
        end
      end
    end

    def leave_in_head
      visit { |client| client.write(part_of(POST)) }
    end

    def leave_in_body
      visit { |client| client.write(POST + part_of(BODY)) }
    end

    def leave_in_chunk
      visit { |client| client.write(CHUNKED_POST + part_of(CHUNK * 40)) }
    end

    def leave_in_response
      visit { |client| read_part(client, "/large") }
    end

    def leave_in_stream
      visit { |client| read_part(client, "/stream") }
    end

    def leave_in_pipeline
      visit { |client| client.write((format(Client::GET, "/large") * 8) + part_of(POST)) }
    end

    def leave_while_idle
      visit do |client|
        ask(client, "/", "0")
        @crowd.rest(@random.rand * 0.5)
      end
    end

    def reset_in_head
      visit(leave: :reset) { |client| client.write(part_of(POST)) }
    end

    def reset_in_body
      visit(leave: :reset) { |client| client.write(POST + part_of(BODY)) }
    end

    def reset_in_response
      visit(leave: :reset) { |client| read_part(client, "/large") }
    end

    def reset_in_stream
      visit(leave: :reset) { |client| read_part(client, "/stream") }
    end

    def visit(leave: :close, **options)
      client = @crowd.client(@port, **options)
      yield client
    ensure
      client&.public_send(leave)
    end

    def ask(client, path, body)
      client.get(path)
      expect(client.answer, body)
    end

    def expect(actual, expected)
      raise Client::Error, "#{actual[0, 40].inspect} where #{expected.inspect} was expected" unless actual == expected
    end

    def read_part(client, path)
      client.get(path)
      client.read(1 + @random.rand(100_000))
    end

    def part_of(text)
      text.byteslice(0, 1 + @random.rand(text.bytesize - 1))
    end
  end
end
