# frozen_string_literal: true

# What an application that wants a just-in-time compiler asks for: JavaScript's runtimes have theirs.
class RubyVM
  module YJIT
    # @return [Boolean] whether this has changed anything
    def self.enable(**)
      false
    end

    # @return [Boolean]
    def self.enabled?
      false
    end
  end
end
