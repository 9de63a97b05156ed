# frozen_string_literal: true

module Upwell
  class Server
    module Listening
      # Informs the kernel which workers accept. Each worker has its own TCP socket on the port, and the kernel distributes clients over all
      # sockets. Clients of a worker that is dead, stopped or not started yet would wait although others are idle.
      class ReuseportSteering
        # @param slots [Array<Processes::Slot>] all slots
        def initialize(slots)
          @slots = slots
          @named = []
        end

        # Makes the next {#update} inform the kernel, whatever another server has told it.
        def forget
          @named = nil
        end

        # Names the workers that accept. It names none when all accept or when none does: then the first worker that starts finds its share.
        #
        # @param now [Float]
        def update(now)
          named = @slots.select { |slot| slot.accepts?(now) }
          named = [] if named == @slots
          return if named == @named

          @named = (named if tell(named)) # nil makes the next call try again
        end

        private

        # All workers share UNIX and inherited sockets.
        def addresses
          listeners_of(@slots.first(1)).map(&:url).uniq
        end

        def listeners_of(slots)
          slots.flat_map(&:listeners).reject(&:shared?)
        end

        # If the kernel rejects the program (above 1,024 sockets, for example), the previous one remains. Then no worker is named.
        def tell(named)
          listeners = listeners_of(named).group_by(&:url)
          addresses.map do |url|
            indexes = listeners.fetch(url, []).map(&:index).uniq
            socket = listeners_of(@slots.first(1)).find { |listener| listener.url == url }.socket
            steer(socket, indexes) || steer(socket, [])
          end.all?
        end

        # @return [Boolean] false on other systems than Linux: clients wait for a successor
        def steer(socket, indexes)
          Descriptor.steer(socket.fileno, indexes)
          true
        rescue SystemCallError
          false
        end
      end
    end
  end
end
