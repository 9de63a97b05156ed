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
        @accepting = slots
      end

      # Where nobody accepts, all do: the first who starts finds its share.
      #
      # @param now [Float]
      def update(now)
        accepting = @slots.select { |slot| slot.accepts?(now) }
        accepting = @slots if accepting.empty?
        return if accepting == @accepting

        @accepting = accepting
        sockets_of_each_address.each { |socket| steer(socket) }
      end

      private

      # One is enough for all that share its address. A UNIX socket is one for all workers.
      def sockets_of_each_address
        listeners = @slots.first.listeners
        listeners.first(listeners.size / @loops).reject(&:path).map(&:socket)
      end

      # Elsewhere than on Linux, clients wait for a successor.
      def steer(socket)
        Descriptor.steer(socket.fileno, @accepting.flat_map { |slot| indexes(slot) })
      rescue SystemCallError
        nil
      end

      def indexes(slot)
        Array.new(@loops) { |loop| (slot.index * @loops) + loop }
      end
    end
  end
end
