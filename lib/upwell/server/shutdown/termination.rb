# frozen_string_literal: true

module Upwell
  class Server
    module Shutdown
      # The end of a server: it announces the end, serves for the time of a delay, and finishes the requests in flight. A second stop, or the
      # deadline, exits at once.
      class Termination
        LISTED_MAX = 10

        # @param server [Server, StaticServer]
        # @param listeners [Array<Listening::Listeners::Listener>]
        # @param configuration [Configuration] has the seconds before draining, and the seconds to finish the requests in flight
        # @yield before an immediate exit, after which no other code of the process runs
        def initialize(server, listeners, configuration, &at_once)
          @server = server
          @listeners = listeners
          @configuration = configuration
          @at_once = at_once
          @deadline = DrainDeadline.new(server, configuration.drain_timeout, &at_once)
          @delay = DrainDelay.new(configuration.drain_delay) { |cause| drain_now(cause) } if configuration.drain_delay.positive?
        end

        # Runs the server until a stop signal, and at most until the deadline. The signals must be trapped already.
        #
        # @return [Boolean] whether all requests were finished
        def serve
          finished = @server.run { @deadline.watch(Control::Commands::STOP_SIGNALS, @configuration.drain_delay) }
          @delay&.cancel
          @deadline.served(finished)
          finished
        end

        # Makes the server finish its requests, and then end. The delay comes first.
        #
        # @param cause [String] of the stop, for the log
        def drain(cause)
          @delay ? announce(cause) : drain_now(cause)
        end

        # Makes the server finish its requests now.
        #
        # @param cause [String] for the log
        def drain_now(cause)
          @deadline.begin
          tell(cause, Termination.sentence(@server.in_flight, @server.long_lived_clients, @configuration.drain_timeout),
               Termination.list(@server))
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
          ExitDeadline.end_process
        end

        private

        def announce(cause)
          @server.announce_drain
          @deadline.announce(@configuration.drain_delay)
          tell(cause, Termination.announcement(@configuration))
        ensure
          @delay.begin(cause)
        end

        def end_serving
          Processes::ProcessTitle.set("server, draining")
          Listening::Listeners.remove(@listeners)
          @server.drain(@configuration.drain_timeout, refuses: @listeners.none?(&:lent))
        end

        def tell(cause, sentence, list = "")
          return if @configuration.quiet

          Log.tell("#{cause}: #{sentence}; #{Control::Commands.later("stops the server at once")}#{list}")
        end

        class << self
          # Describes the delay before draining.
          #
          # @param configuration [Configuration]
          # @return [String] the log sentence
          def announcement(configuration)
            ready = ", and #{configuration.ready_path} answers 503" if configuration.ready_path
            format("draining begins in %g s; until then new clients are served%s", configuration.drain_delay, ready)
          end

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

          # Counts the requests and the long-lived clients that remain at the deadline.
          #
          # @param server [Server, StaticServer]
          # @return [String] to follow the list
          def totals(server)
            return "" unless server.in_flight

            clients = plural(server.long_lived_clients, "WebSocket or event stream", "WebSockets and event streams")
            "; left: #{plural(server.in_flight, "request", "requests")}, #{clients}"
          end

          private

          def plural(count, one, several)
            "#{count} #{count == 1 ? one : several}"
          end

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
