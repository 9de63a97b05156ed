# frozen_string_literal: true

require_relative "checked_request"

module RequestIsolation
  # A client that asks at random, as clients do: kept connections, pipelines, slow ones, and those that leave.
  class RandomClient
    WAYS = { keep: 40, pipeline: 15, vanish: 20, leave_content: 3, trickle: 4, half_close: 5, pause: 5 }.freeze
    EVENTS_KEPT = 12
    LENGTHS = [[1..30, 84], [500..8000, 12], [50_000..200_000, 2]].freeze # in tokens, and how often
    TOKEN = /c\d+n\d+(?=;)/

    attr_reader :events, :served

    # @param run [#over?, #draining?, #port, #pick_act] whom it belongs to
    def initialize(run, number, seed)
      @run = run
      @number = number
      @random = Random.new(seed)
      @errands = 0
      @served = 0
      @events = []
    end

    def go
      send(weighted(WAYS)) until @run.over? || @gone
    end

    private

    def tell(event)
      @events << "#{format("%.3f", Process.clock_gettime(Process::CLOCK_MONOTONIC))} #{event}"
      @events.shift if @events.size > EVENTS_KEPT
    end

    def weighted(weights)
      at = @random.rand * weights.sum { |_, weight| weight }
      weights.each { |value, weight| return value if (at -= weight).negative? }
    end

    # @param plain [Boolean] only what leaves the connection open
    def errand(plain: false, **more)
      act = @run.pick_act(@random, plain)
      range = LENGTHS[weighted(LENGTHS.each_with_index.to_h { |(_, weight), index| [index, weight] })].first
      options = { count: @random.rand(range), seed: @random.rand(1_000_000), **more }
      options[:content] ||= @random.rand(2).zero? ? :sized : :chunked if act == "echo" || @random.rand(8).zero?
      options[:count] = [options[:count], 10_000].min if options[:content]
      options[:version] ||= "1.0" if !plain && options[:content] != :chunked && @random.rand(20).zero?
      options[:verb] = verb(act, options)
      CheckedRequest.new("c#{@number}n#{@errands += 1}", act, **options)
    end

    def verb(act, options)
      return "POST" if options[:content]

      %w[array each_piece callable file].include?(act) && @random.rand(10).zero? ? "HEAD" : "GET"
    end

    # @yield [ClientConnection]
    def connect(small: false)
      wire = ClientConnection.new(@run.port, small: small)
      tell "connected"
      yield wire
    rescue Errno::ECONNREFUSED, Errno::ECONNRESET
      raise unless @run.draining?

      @gone = true
    ensure
      wire&.close
    end

    # @return [Boolean] whether the connection goes on
    def read(wire, errand, &pace)
      goes_on = errand.read(wire, &pace)
      @served += 1
      tell "read #{errand}"
      goes_on
    rescue ClientConnection::Ended => e
      # At its end the server finishes what it has begun, and may have begun nothing.
      unless @run.draining? && (errand.unanswered?(wire) || errand.aside?)
        raise Violation, "#{e.message} of the connection instead of the rest, in answer to #{errand}"
      end

      @gone = true
      false
    end

    def write(wire, errand)
      tell "writes #{errand}"
      errand.wire_text.each { |piece| wire.write(piece) }
    end

    def keep
      connect do |wire|
        @random.rand(1..20).times do
          asked = errand
          write(wire, asked)
          break if !read(wire, asked) || @run.over?
        end
      end
    end

    def pipeline
      asked = Array.new(@random.rand(2..8)) { errand(plain: true) }
      connect do |wire|
        writer = Thread.new { asked.each { |one| write(wire, one) } }
        asked.each { |one| break unless read(wire, one) }
        writer.join
      end
    end

    def trickle
      asked = errand
      connect do |wire|
        tell "trickles #{asked}"
        bytes = asked.wire_text.join
        first = [bytes.bytesize, 60].min
        bytes.byteslice(0, first).scan(/.{1,7}/m) { |piece| wire.write(piece); sleep 0.002 }
        wire.write(bytes.byteslice(first..))
        read(wire, asked) { sleep 0.001 if @random.rand(10).zero? }
      end
    end

    def half_close
      asked = errand
      connect do |wire|
        write(wire, asked)
        wire.half_close
        read(wire, asked)
      end
    end

    # Stops reading for a while, and goes on.
    def pause
      asked = errand(count: @random.rand(20_000..150_000))
      pauses = 3
      connect(small: true) do |wire|
        write(wire, asked)
        sleep @random.rand * 0.1
        read(wire, asked) { sleep @random.rand * 0.1 if @random.rand(30).zero? && (pauses -= 1).positive? }
      end
    end

    # Leaves at some moment, in one of the ways there are to leave.
    def vanish
      asked = errand
      connect(small: @random.rand(2).zero?) do |wire|
        tell "vanishes from #{asked}"
        text = asked.wire_text.join
        whole = @random.rand(4).positive?
        wire.write(whole ? text : text.byteslice(0, @random.rand(text.bytesize)))
        sleep @random.rand * 0.02 if @random.rand(2).zero?
        take_a_look(wire, asked) if whole && @random.rand(2).zero?
        @random.rand(2).zero? ? wire.reset : wire.close
      end
    end

    def take_a_look(wire, asked)
      seen = wire.read_some
      others = seen.scan(TOKEN).uniq - [asked.id]
      raise Violation, "ids of others: #{others} in #{seen[0, 500].inspect}, in answer to #{asked}" if others.any?
    rescue ClientConnection::Ended
      nil
    end

    # Leaves in the middle of the content.
    def leave_content
      asked = errand(content: :sized, count: 2000)
      connect do |wire|
        tell "leaves within the content of #{asked}"
        text = asked.wire_text.join
        wire.write(text.byteslice(0, text.bytesize - @random.rand(1..(text.bytesize / 2))))
        @random.rand(2).zero? ? wire.reset : wire.half_close
      end
    end
  end
end
