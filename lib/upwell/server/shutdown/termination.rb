# frozen_string_literal: true

module Upwell
  class Server
    module Shutdown
      # The first SIGTERM or SIGINT starts draining: the server finishes requests in flight. A later signal, or the deadline, exits at once.
      class Termination
        SIGNALS = %w[TERM INT].freeze
        LISTED_MAX = 10
        # Seconds in which more stop signals count as the same stop: terminals and process managers signal the process and then its group.
        SAME_STOP = 1

        # @param server [Server, StaticServer]
        # @param listeners [Array<Listening::Listeners::Listener>]
        # @param seconds [Numeric] to finish the requests in flight
        # @param quiet [Boolean] whether the first signal is not logged
        # @yield before an immediate exit, after which no other code of the process runs
        def initialize(server, listeners, seconds, quiet: false, &at_once)
          @server = server
          @listeners = listeners
          @seconds = seconds
          @quiet = quiet
          @at_once = at_once
          @deadline = DrainDeadline.new(server, seconds, &at_once)
        end

        # @return [Hash{String => #call}] for {Control::Signals}
        def handlers
          SIGNALS.to_h { |name| [name, method(:terminate)] }
        end

        # Runs the server until a stop signal, and at most until the deadline. The signals must be trapped already.
        #
        # @return [Boolean] whether all requests were finished
        def serve
          @server.run { @deadline.watch(SIGNALS) }.tap { |finished| @deadline.served(finished) }
        end

        private

        def terminate(name, at)
          return Termination.same_stop?(@since, at) || give_up(name) if @since

          @since = at
          begin_to_drain(name)
        end

        def begin_to_drain(name)
          @deadline.begin
          tell(name) unless @quiet
        ensure
          end_serving
        end

        def end_serving
          Processes::ProcessTitle.set("server, draining")
          Listening::Listeners.remove(@listeners)
          @server.drain(@seconds, refuses: true)
        end

        def tell(name)
          waits = Termination.sentence(@server.in_flight, @server.long_lived_clients, @seconds)
          Log.tell("SIG#{name}: #{waits}; #{Termination.later("stops the server at once")}#{Termination.list(@server)}")
        end

        def give_up(name)
          @at_once&.call # the block comes first: the reader of the log may be gone
          Log.tell("SIG#{name} again: exiting with requests in flight")
        ensure
          exit!(1)
        end

        class << self
          # Describes the work that remains.
          #
          # @param requests [Integer, nil] in flight, if the number is known
          # @param clients [Integer] long-lived connections
          # @param seconds [Numeric]
          # @return [String] the log sentence
          def sentence(requests, clients, seconds)
            return "no requests are in flight, closing all connections" if requests&.zero? && clients.zero?

            format("%s, for at most %g s", [finishing(requests), closing(clients)].compact.join(" and "), seconds)
          end

          # @param what [String] the effect of a later signal
          # @return [String]
          def later(what)
            "a second signal after #{SAME_STOP} s #{what}"
          end

          # @param first [Numeric] the time of the first signal, in seconds
          # @param now [Numeric]
          # @return [Boolean] whether the second one means the same
          def same_stop?(first, now)
            now - first < SAME_STOP
          end

          # Lists the requests in flight.
          #
          # @param server [Server, StaticServer]
          # @return [String] the application's requests, the oldest first, to follow the sentence
          def list(server)
            oldest = server.requests.sort_by { |_env, _thread, seconds| -seconds }
            told = oldest.first(LISTED_MAX).map do |env, _thread, seconds|
              format("%s for %.1f s", env ? Logs::RequestDescription.request(env) : "a request", seconds)
            end
            told << "..." if oldest.size > LISTED_MAX
            told.empty? ? "" : ": #{told.join(", ")}"
          end

          private

          def finishing(count)
            { nil => "finishing the requests in flight", 0 => nil, 1 => "finishing the request in flight" }.fetch(count) do
              "finishing #{count} requests in flight"
            end
          end

          def closing(count)
            { 0 => nil, 1 => "closing one WebSocket or event stream" }.fetch(count) { "closing #{count} WebSockets and event streams" }
          end
        end
      end
    end
  end
end
