# frozen_string_literal: true

require_relative "marked_bytes"

module Torture
  # What a loop brings to one thread, while others write, emit, unwatch and close: each event that was asked for, none that was not.
  class LoopRound
    STREAMS_MAX = 5
    EMITTED_MAX = 30
    PIECE_MAX = 500
    PIECES_MAX = 10
    READ_MAX = 1000
    LATE = 60 # seconds

    # A pipe or pair, and what has come of it.
    Stream = Struct.new(:key, :reader, :writer, :mark, :oneshot, :received, :sent, :ended)

    # @param activity [#own, #check, #at_home, #new_mark] whose it is
    # @param alone [Boolean] what others do is done before anything is taken, by the same thread
    def initialize(activity, events, dice, alone: false)
      @activity = activity
      @events = events
      @dice = dice
      @alone = alone
      @emitted = @ticks = 0
    end

    def run
      @streams = Array.new(@dice.rand(1..STREAMS_MAX)) { |number| open_stream(number) }.to_h { |stream| [stream.key, stream] }
      @emissions = @dice.rand(EMITTED_MAX)
      watch_times
      @streams.each_value { |stream| watch(stream) }
      threads = [method(:write_all), method(:emit_all), method(:disturb)].filter_map { |work| begin_beside(work) }
      take(@events.next_event) until over?
      threads.each(&:value)
    ensure
      end_watches
    end

    private

    def name(what)
      "#{@activity.name} #{what}"
    end

    def open_stream(number)
      reader, writer = @activity.own(*[IO.pipe, UNIXSocket.pair].sample(random: @dice))
      Stream.new(name("stream #{number}"), reader, writer, @activity.new_mark, @dice.rand(2).zero?, 0, 0, false)
    end

    def watch(stream)
      @events.watch_io(stream.key, stream.reader, false, stream.oneshot)
    end

    def watch_times
      @events.watch_timer(name("late"), LATE)
      @events.watch_timer(name("tick"), 0.001, 0.001)
      @events.watch_timer(name("never"), 0)
      @events.unwatch(name("never"))
    end

    def over?
      @streams.each_value.all?(&:ended) && @emitted == @emissions && @ticks.positive?
    end

    def take(key)
      @activity.at_home
      case key
      when nil then nil # a wait that was ended
      when name("tick") then @ticks += 1
      when name("emitted #{@emitted}") then @emitted += 1
      when *@streams.keys then receive(@streams[key])
      else @activity.wrong("an event #{key.inspect}, after #{@emitted} of #{@emissions}, #{@streams.values.map(&:ended)}")
      end
    end

    def receive(stream)
      @activity.wrong("an event of #{stream.key} after its end") if stream.ended
      piece = stream.reader.read_nonblock(READ_MAX, exception: false)
      return finish(stream) unless piece

      unless piece == :wait_readable
        stream.mark.check(piece, stream.received)
        stream.received += piece.bytesize
      end
      @dice.rand(10).zero? ? watch_anew(stream) : stream.oneshot && watch(stream)
    end

    def watch_anew(stream)
      @events.unwatch(stream.key) unless stream.oneshot
      stream.oneshot = !stream.oneshot
      watch(stream)
    end

    # Closing ends a watch too.
    def finish(stream)
      stream.ended = true
      @activity.wrong("#{stream.received} of #{stream.sent} bytes") unless stream.received == stream.sent
      @events.unwatch(stream.key) if @dice.rand(2).zero?
      stream.reader.close
    end

    # @return [Thread, nil] nil when it is done already
    def begin_beside(work)
      return @activity.own_thread(&work) unless @alone

      work.call(Random.new(@dice.rand(1 << 32)))
      nil
    end

    def write_all(dice)
      @streams.each_value { |stream| write_pieces(stream, dice) }
    end

    def write_pieces(stream, dice)
      dice.rand(PIECES_MAX).times do
        bytes = stream.mark.bytes(dice.rand(1..PIECE_MAX), stream.sent)
        stream.sent += bytes.bytesize
        stream.writer.syswrite(bytes)
        sleep(dice.rand * 0.001)
      end
      stream.writer.close
    end

    def emit_all(_dice)
      @emissions.times { |number| @events.emit(name("emitted #{number}")) && Thread.pass }
    end

    # Watches of another thread come and go; what it closes brings nothing more.
    def disturb(dice)
      key = name("disturbance")
      dice.rand(5).times do
        reader, = @activity.own(*IO.pipe)
        @events.watch_io(key, reader, false, dice.rand(2).zero?)
        sleep(dice.rand * 0.001)
        dice.rand(2).zero? ? @events.signal : Thread.pass
        @events.unwatch(key)
        reader.close
      end
    end

    # Which is carried out by the thread that waits, once it does.
    def end_watches
      [name("late"), name("tick"), *@streams&.keys].each { |key| @events.unwatch(key) }
      @events.watch_timer(name("end"), 0)
      until (key = @events.next_event) == name("end")
        @activity.wrong("an event #{key.inspect} after all watches") if key
      end
    end
  end
end
