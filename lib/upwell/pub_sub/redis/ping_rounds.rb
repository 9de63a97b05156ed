# frozen_string_literal: true

require_relative "../../clock"
require_relative "received_numbers"

module Upwell
  module PubSub
    class Redis
      # Counts rounds: a request to other engines, and Redis' answer to the PING behind it. A round takes at least
      # ReceivedNumbers::RETRY, because other PINGs may be much faster and the engines need time. Only one thread at a time may use it.
      class PingRounds
        # @param heard [ReceivedNumbers]
        def initialize(heard)
          @heard = heard
          forget
        end

        # Resets the state for a new connection.
        def forget
          @began = @ping = @proof = nil
        end

        # Begins a round if a request is due.
        #
        # @param ping [Integer] the number of the PING that follows
        # @return [Array<String>, nil] the request
        def begin(ping)
          @proof ||= [ping, Clock.now]
          return if @ping || (@began && Clock.now - @began < ReceivedNumbers::RETRY)

          @began = Clock.now
          @ping = ping
          @heard.request
        end

        # Handles the answer to a PING.
        #
        # @param ping [Integer] its number
        def answered(ping)
          prove(ping)
          return unless @ping && ping >= @ping

          @ping = nil
          @heard.round_passed
        end

        private

        # Messages that Redis published before the PING was sent have arrived before the answer.
        def prove(ping)
          return unless @proof && ping >= @proof.first

          @heard.proven(@proof.last)
          @proof = nil
        end
      end
    end
  end
end
