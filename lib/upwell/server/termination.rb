# frozen_string_literal: true

module Upwell
  class Server
    # The first SIGTERM or SIGINT has a server finish what is in flight; a second one ends the process at once.
    class Termination
      SIGNALS = %w[TERM INT].freeze
      LISTED_MAX = 10

      # @param server [Server, StaticServer]
      # @param listeners [Array<Listeners::Listener>]
      # @param seconds [Numeric] for what is in flight
      # @param quiet [Boolean] whether the first signal is obeyed without a word
      # @yield before the process ends at once: nothing else of it runs any more
      def initialize(server, listeners, seconds, quiet: false, &at_once)
        @server = server
        @listeners = listeners
        @seconds = seconds
        @quiet = quiet
        @at_once = at_once
      end

      # @return [Hash{String => #call}] for {Signals}
      def handlers
        SIGNALS.to_h { |name| [name, method(:terminate)] }
      end

      private

      def terminate(name)
        give_up(name) if @draining
        @draining = true
        tell(name) unless @quiet
      ensure
        end_serving
      end

      def end_serving
        Title.set("server, draining")
        Listeners.remove(@listeners)
        @server.drain(@seconds, refuses: true)
      end

      def tell(name)
        Log.tell("SIG#{name}: #{Termination.sentence(@server.in_flight, @seconds)}; a second signal ends it at once#{Termination.list(@server)}")
      end

      def give_up(name)
        @at_once&.call # first: nobody may read what is told
        Log.tell("SIG#{name} again: ended with requests in flight")
      ensure
        exit!(1)
      end

      class << self
        # @param count [Integer, nil] requests in flight, as far as that is known
        # @param seconds [Numeric]
        # @return [String] what draining waits for
        def sentence(count, seconds)
          return "no request is in flight, connections are closed" if count&.zero?

          what = { nil => "what is in flight", 1 => "the request in flight" }.fetch(count) { "#{count} requests in flight" }
          format("finishing %s, for at most %g s", what, seconds)
        end

        # @param server [Server, StaticServer]
        # @return [String] the requests that the application has, the oldest first, to be put behind the sentence
        def list(server)
          oldest = server.requests.sort_by { |_env, _thread, seconds| -seconds }
          told = oldest.first(LISTED_MAX).map do |env, _thread, seconds|
            format("%s for %.1f s", env ? Place.request(env) : "a request", seconds)
          end
          told << "..." if oldest.size > LISTED_MAX
          told.empty? ? "" : ": #{told.join(", ")}"
        end
      end
    end
  end
end
