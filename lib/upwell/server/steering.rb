# frozen_string_literal: true

module Upwell
  class Server
    # Each worker has a TCP socket of its own on the port, so that the kernel shares out the clients, also to a worker that has died, has not
    # started yet, or is stopped: they would wait for its successor while others are idle. So the kernel is told who accepts.
    class Steering
      # @param slots [Array<Slot>] all, in the order in which they began to listen
      # @param loops [Integer] of one worker
      def initialize(slots, loops)
        @slots = slots
        @loops = loops
        @named = []
      end

      # None is named where all accept, and where nobody does: the first who starts finds its share.
      #
      # @param now [Float]
      def update(now)
        named = @slots.select { |slot| slot.accepts?(now) }
        named = [] if named == @slots
        return if named == @named

        @named = (named if tell(named.flat_map { |slot| indexes(slot) })) # or it is told again
      end

      private

      # One is enough for all that share its address. A UNIX socket is one for all workers.
      def sockets_of_each_address
        listeners = @slots.first.listeners
        listeners.first(listeners.size / @loops).reject(&:path).map(&:socket)
      end

      # The kernel goes by what it was told before where it does not take this (above 1,024 sockets, say): then none is named.
      def tell(indexes)
        sockets_of_each_address.map { |socket| steer(socket, indexes) || steer(socket, []) }.all?
      end

      # @return [Boolean] false elsewhere than on Linux: clients wait for a successor
      def steer(socket, indexes)
        Descriptor.steer(socket.fileno, indexes)
        true
      rescue SystemCallError
        false
      end

      def indexes(slot)
        Array.new(@loops) { |loop| (slot.index * @loops) + loop }
      end
    end
  end
end
