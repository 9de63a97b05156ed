# frozen_string_literal: true

module Upwell
  class Server
    module Listening
      # Informs the kernel which workers accept. Each worker has its own TCP socket on the port, and the kernel distributes clients over all
      # sockets. Clients of a worker that is dead, stopped or not started yet would wait although others are idle.
      class ReuseportSteering
        # @param slots [Array<Processes::Slot>] all slots, in the order in which they began to listen
        # @param loops [Integer] per worker
        def initialize(slots, loops)
          @slots = slots
          @loops = loops
          @named = []
        end

        # Names the workers that accept. It names none when all accept or when none does: then the first worker that starts finds its share.
        #
        # @param now [Float]
        def update(now)
          named = @slots.select { |slot| slot.accepts?(now) }
          named = [] if named == @slots
          return if named == @named

          @named = (named if tell(named.flat_map { |slot| indexes(slot) })) # nil makes the next call try again
        end

        private

        # One socket per address is enough. All workers share UNIX and inherited sockets.
        def sockets_of_each_address
          listeners = @slots.first.listeners
          listeners.first(listeners.size / @loops).reject(&:shared?).map(&:socket)
        end

        # If the kernel rejects the program (above 1,024 sockets, for example), the previous one remains. Then no worker is named.
        def tell(indexes)
          sockets_of_each_address.map { |socket| steer(socket, indexes) || steer(socket, []) }.all?
        end

        # @return [Boolean] false on other systems than Linux: clients wait for a successor
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
end
