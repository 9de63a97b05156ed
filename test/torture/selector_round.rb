# frozen_string_literal: true

require_relative "marked_bytes"

module Torture
  # What a selector finds ready, while other threads write, register, deregister and wake it.
  class SelectorRound
    STREAMS_MAX = 5
    BYTES_MAX = 5000
    READ_MAX = 1000
    WAIT_MAX = 60 # seconds

    Stream = Struct.new(:reader, :writer, :mark, :sent, :received)

    # @param activity [#own, #check, #at_home, #new_mark] whose it is
    def initialize(activity, dice)
      @activity = activity
      @dice = dice
    end

    def run
      @selector = Upwell::Selector.new(backend: BACKEND)
      @streams = Array.new(@dice.rand(1..STREAMS_MAX)) { open_stream }.to_h { |stream| [stream.reader, stream] }
      @streams.each_key { |reader| @selector.register(reader, Upwell::Selector::READABLE) }
      threads = [write_on_thread, disturb_on_thread]
      wait until @streams.empty?
      threads.each(&:value)
    ensure
      threads&.each(&:join)
      @selector&.close
    end

    private

    def open_stream
      reader, writer = @activity.own(*[IO.pipe, UNIXSocket.pair].sample(random: @dice))
      Stream.new(reader, writer, @activity.new_mark, @dice.rand(1..BYTES_MAX), 0)
    end

    def wait
      before = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      @selector.wait(WAIT_MAX) { |io, events| receive(@streams[io], io, events) }
      @activity.check(Process.clock_gettime(Process::CLOCK_MONOTONIC) - before < WAIT_MAX, "wait, a long one")
    end

    def receive(stream, io, events)
      @activity.at_home
      @activity.wrong("#{io.inspect} with #{events} is ready") unless stream && events == Upwell::Selector::READABLE
      piece = io.read_nonblock(READ_MAX, exception: false)
      return finish(stream) unless piece
      return if piece == :wait_readable

      stream.mark.check(piece, stream.received)
      stream.received += piece.bytesize
    end

    def finish(stream)
      @activity.check(stream.received == stream.sent, "length")
      @selector.deregister(stream.reader)
      @streams.delete(stream.reader)
      stream.reader.close
    end

    def write_on_thread
      streams = @streams.values
      @activity.own_thread do |dice|
        streams.each do |stream|
          stream.writer.write(stream.mark.bytes(stream.sent))
          sleep(dice.rand * 0.001)
          stream.writer.close
        end
      end
    end

    # What is never ready comes and goes.
    def disturb_on_thread
      @activity.own_thread do |dice|
        dice.rand(5).times do
          reader, = @activity.own(*IO.pipe)
          @selector.register(reader, Upwell::Selector::READABLE)
          sleep(dice.rand * 0.001)
          @selector.wakeup
          @selector.deregister(reader)
          reader.close
        end
      end
    end
  end
end
