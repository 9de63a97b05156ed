# frozen_string_literal: true

module Torture
  module ActivityKinds
    # An IO is closed while a fiber reads it: the fiber gets an IOError, and nothing that comes later, which is others'.
    module ClosedIOs
      def closed_by_fiber = closed_while_read(:fiber, :close)

      def closed_by_thread = closed_while_read(:thread, :close)

      def closed_read_by_fiber = closed_while_read(:fiber, :close_read)

      def closed_read_by_thread = closed_while_read(:thread, :close_read)

      def closed_write_by_fiber = closed_while_written(:fiber)

      def closed_write_by_thread = closed_while_written(:thread)

      private

      READS = %i[gets getc read each_byte readpartial wait_readable].freeze
      INHERITED = 1000 # bytes
      private_constant :READS, :INHERITED

      def closed_while_read(by, how)
        reader, writer = own(*[IO.pipe, UNIXSocket.pair].sample(random: @dice))
        heir = own(reader.dup)
        way = READS.sample(random: @dice)
        ended = by == :thread ? own_queue(Thread::Queue.new) : nil
        shut = how == :close_read && reader.is_a?(UNIXSocket) # for its heir too
        later(by) do |dice|
          reader.public_send(how)
          shut || chance(2, dice) ? writer.close : inherit(ended, heir, writer)
        end
        check(read_until_closed(reader, way, how), "end of #{way} on #{reader.class}")
        ended&.push(true)
      end

      # What is written from now on, another descriptor has: at once, but for a thread's close, of which the fiber has to be told first.
      def inherit(ended, heir, writer)
        ended&.pop
        mark = new_mark
        size = INHERITED
        writer.write(mark.bytes(size))
        writer.close
        check(read_marked(heir, mark, size, Random.new(size)) == size, "length")
      end

      # Whether it ends as it has to: a socket of which one side is closed is at its end.
      def read_until_closed(reader, way, how)
        result = way == :readpartial ? reader.readpartial(100) : reader.public_send(way) { return false }
        how == :close_read && (result.nil? || result == "" || way == :wait_readable || way == :each_byte)
      rescue IOError # EOFError is one
        how == :close_read || !$!.is_a?(EOFError) # rubocop:disable Style/SpecialGlobalVars
      end

      def closed_while_written(by)
        _reader, writer = own(*[IO.pipe, UNIXSocket.pair].sample(random: @dice))
        bytes = new_mark.bytes(1_000_000)
        how = writer.is_a?(UNIXSocket) ? :close : :close_write # which ends no write to a socket, not even a thread's
        later(by) { writer.public_send(how) }
        writer.write(bytes)
        check(false, "end of a write that nobody reads")
      rescue IOError, Errno::EPIPE
        nil
      end
    end
  end
end
