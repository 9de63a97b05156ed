# frozen_string_literal: true

require "upwell"

# Requests and clients' events that raise what is meant for a process. The path says where and how: /PLACE/WAY.
module ExitInRequest
  WAYS = {
    "exit" => -> { exit(3) },
    "abort" => -> { abort },
    "interrupt" => -> { raise Interrupt },
    "signal" => -> { raise SignalException, "TERM" },
    "kill" => -> { Thread.current.kill },
    "thread_exit" => -> { Thread.exit },
    "throw" => -> { throw :nobody_catches }
  }.freeze

  # Ends in the method of which it is told.
  Body = Struct.new(:place, :way) do
    def each
      yield "first "
      WAYS.fetch(way).call if place == "each"
      yield "second"
    end

    def close
      WAYS.fetch(way).call if place == "close"
    end
  end

  # Likewise.
  Handler = Struct.new(:place, :way) do
    %i[on_open on_message on_drained on_close].each do |event|
      define_method(event) { |*| WAYS.fetch(way).call if place == event.to_s }
    end
  end

  HELD = Queue.new

  class << self
    def call(env)
      _, place, way = env["PATH_INFO"].split("/")
      return [101, {}, []].tap { env["rack.upgrade"] = Handler.new(place, way) } if env["rack.upgrade?"]

      answer(place, way, env)
    end

    private

    def answer(place, way, env)
      case place
      when "fine" then [200, {}, ["fine"]]
      when "switches" then [101, { "connection" => "upgrade", "upgrade" => "x" }, :close.to_proc]
      when "held" then [200, {}, [HELD.pop]]
      when "each", "close" then [200, {}, Body.new(place, way)]
      when "stream" then [200, {}, ->(stream) { stream.write("first ") && WAYS.fetch(way).call }]
      when "partial" then [200, { "rack.hijack" => ->(_io) { WAYS.fetch(way).call } }, []]
      else send(place, way, env)
      end
    end

    def releases(_way, _env)
      HELD << "held"
      [200, {}, ["released"]]
    end

    def call_itself(way, _env)
      WAYS.fetch(way).call
    end

    def hijack(way, env)
      io = env["rack.hijack"].call
      WAYS.fetch(way).call
    ensure
      io.close
    end

    def finished(way, env)
      env["rack.response_finished"] << ->(*) { WAYS.fetch(way).call }
      [200, {}, ["whole"]]
    end

    def hints(way, env)
      headers = Object.new
      headers.define_singleton_method(:each) { WAYS.fetch(way).call }
      env["rack.early_hints"].call(headers)
    end

    def subscriber(way, _env)
      Upwell.publish("way", way)
      [200, {}, ["published"]]
    end

    # A fiber of the application's own, where there are any.
    def fiber(way, _env)
      Fiber.scheduler ? Fiber.schedule { WAYS.fetch(way).call } : (return [200, {}, ["none"]])
      [200, {}, ["scheduled"]]
    end

    def exits_in_thread(_way, _env)
      Thread.new { exit(7) }
      sleep
    end

    def waits(_way, _env)
      sleep
    end
  end
end

Upwell.subscribe("way") { |_channel, way| ExitInRequest::WAYS.fetch(way).call }
trap("QUIT") { exit(7) } if ENV["EXITS_AT_QUIT"]
run ExitInRequest
