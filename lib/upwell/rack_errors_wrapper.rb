# frozen_string_literal: true

require "delegate"

module Upwell
  # A wrapper of the server's stream, used as `rack.errors` of long-lived clients. An IO has no write barrier, so in Ruby 3.4 each collection
  # marks all objects that refer to an IO directly.
  class RackErrorsWrapper < SimpleDelegator
    # @param type [Module]
    # @return [Boolean] whether this object or the stream is a kind of the type
    def is_a?(type)
      super || __getobj__.is_a?(type)
    end
    alias kind_of? is_a?
  end
end
