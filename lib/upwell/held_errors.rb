# frozen_string_literal: true

require "delegate"

module Upwell
  # What `rack.errors` of a client that stays is: the server's stream, one step away. An IO has no write barrier, so Ruby 3.4 marks in each
  # collection anew whatever refers to it.
  class HeldErrors < SimpleDelegator
    # @param type [Module]
    # @return [Boolean] whether this is one, or the stream
    def is_a?(type)
      super || __getobj__.is_a?(type)
    end
    alias kind_of? is_a?
  end
end
