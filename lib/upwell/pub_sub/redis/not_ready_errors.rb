# frozen_string_literal: true

module Upwell
  module PubSub
    class Redis
      # Errors that mean that Redis cannot serve now: it runs a script or loads its data, for example. The command will succeed later, so
      # the connection counts as lost.
      module NotReadyErrors
        CODES = %w[BUSY CLUSTERDOWN LOADING MASTERDOWN OOM READONLY TRYAGAIN].freeze

        class << self
          # @param answer [Object] of Redis
          # @return [Boolean] whether the answer is such an error
          def match?(answer)
            answer.is_a?(RedisClient::Error) && CODES.include?(answer.message[/\A[A-Z]+/])
          end

          # Checks an answer.
          #
          # @param answer [Object] of Redis
          # @return [Object] the answer
          # @raise [RedisClient::Error] when the answer is such an error
          def check(answer)
            match?(answer) ? raise(answer) : answer
          end
        end
      end
    end
  end
end
