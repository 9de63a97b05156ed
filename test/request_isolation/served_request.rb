# frozen_string_literal: true

require "uri"

module RequestIsolation
  MODE = ENV.fetch("ISOLATION_MODE", "fibers")
  INLINE = MODE == "inline"
  FIBERS = MODE.start_with?("fibers")

  # What an application may meet when it writes: the response is over, or its client is gone.
  ENDED = [IOError, Errno::EPIPE, Errno::ECONNRESET].freeze

  # What must not be. The driver ends the run when it reads such a line.
  def self.trouble(id, what)
    $stderr.write("ISOLATION FAULT #{id}: #{what}\n")
  end

  # Closes and callbacks that are due: each comes once.
  module Ledger
    DUE = {} # rubocop:disable Style/MutableConstant -- changed under Ruby's lock alone

    def self.expect(id, what)
      DUE["#{id} #{what}"] = true
    end

    def self.settle(id, what)
      DUE.delete("#{id} #{what}") || RequestIsolation.trouble(id, "#{what}: once too often")
    end
  end

  # One request: who asks, for what, and which bytes are theirs.
  class ServedRequest
    attr_reader :id, :act, :env, :random, :text

    def initialize(env)
      @env = env
      _, @act, @id = env["PATH_INFO"].split("/")
      query = URI.decode_www_form(env["QUERY_STRING"]).to_h
      @random = Random.new(Integer(query.fetch("seed")))
      @text = "#{@id};" * Integer(query.fetch("count"))
    end

    def token
      "#{id};"
    end

    def headers(more = {})
      { "content-type" => "text/plain", "x-id" => id, **more }
    end

    def answer(body, more = {})
      [200, headers(more), body]
    end

    # The text in pieces of uneven lengths.
    def pieces(text = @text)
      pieces = []
      at = 0
      largest = [text.bytesize / random.rand(1..20), 1].max
      while at < text.bytesize
        pieces << text.byteslice(at, random.rand(1..largest))
        at += pieces.last.bytesize
      end
      pieces
    end

    # A moment that is not always the same; in mode inline it is everybody's.
    def moment(longest = INLINE ? 0.002 : 0.02)
      random.rand(3).zero? ? Thread.pass : sleep(random.rand * longest)
    end

    # A head and the text as somebody writes them who has taken the connection over.
    def write_raw(io)
      io.write("HTTP/1.1 200 OK\r\nx-id: #{id}\r\nconnection: close\r\n\r\n")
      pieces.each { |piece| io.write(piece) }
      io.close
    rescue *ENDED
      io.close
    end

    # Runs the block in a thread that nobody waits for, and that lets nothing out.
    def aside
      Thread.new do
        yield
      rescue *ENDED
        nil
      rescue Exception => e # rubocop:disable Lint/RescueException -- whatever it is, it must not be
        RequestIsolation.trouble(id, "#{act}: #{e.full_message(highlight: false)}")
      end
    end
  end
end
