# frozen_string_literal: true

# The interface to enable a just-in-time compiler. JavaScript runtimes have their own.
class RubyVM
  module YJIT
    # @return [Boolean] whether the call has changed the state
    def self.enable(**)
      false
    end

    # @return [Boolean]
    def self.enabled?
      false
    end
  end
end
