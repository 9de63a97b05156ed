# frozen_string_literal: true

module Upwell
  class Server
    module Shutdown
      # The end of a server: it finishes the requests in flight. A second stop, or the deadline, exits at once.
      class Termination
        LISTED_MAX = 10

        # @param server [Server, StaticServer]
        # @param listeners [Array<Listening::Listeners::Listener>]
        # @param seconds [Numeric] to finish the requests in flight
        # @param quiet [Boolean] whether the first stop is not logged
        # @yield before an immediate exit, after which no other code of the process runs
        def initialize(server, listeners, seconds, quiet: false, &at_once)
          @server = server
          @listeners = listeners
          @seconds = seconds
          @quiet = quiet
          @at_once = at_once
          @deadline = DrainDeadline.new(server, seconds, &at_once)
        end

        # Runs the server until a stop signal, and at most until the deadline. The signals must be trapped already.
        #
        # @return [Boolean] whether all requests were finished
        def serve
          @server.run { @deadline.watch(Control::Commands::STOP_SIGNALS) }.tap { |finished| @deadline.served(finished) }
        end

        # Makes the server finish its requests, and then end.
        #
        # @param cause [String] of the stop, for the log
        def drain(cause)
          @deadline.begin
          tell(cause) unless @quiet
        ensure
          end_serving
        end

        # Ends the process.
        #
        # @param cause [String] of the second stop, for the log
        def stop_at_once(cause)
          @at_once&.call # the block comes first: the reader of the log may be gone
          Log.tell("#{cause} again: exiting with requests in flight")
        ensure
          exit!(1)
        end

        private

        def end_serving
          Processes::ProcessTitle.set("server, draining")
          Listening::Listeners.remove(@listeners)
          @server.drain(@seconds, refuses: true)
        end

        def tell(cause)
          waits = Termination.sentence(@server.in_flight, @server.long_lived_clients, @seconds)
          Log.tell("#{cause}: #{waits}; #{Control::Commands.later("stops the server at once")}#{Termination.list(@server)}")
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
