# frozen_string_literal: true

require_relative "../../clock"

module Upwell
  module Opal
    class Build
      # Reports the number of compiled files during a long start.
      class Progress
        PAUSE = 2 # seconds between reports, and before the first one

        # @param tell [#call, nil] called with a message; nil: no reports
        # @param pause [Numeric] seconds
        def initialize(tell, pause: PAUSE)
          @tell = tell
          @pause = pause
          @count = 0
          @told = Clock.now
        end

        # Counts a file.
        #
        # @param name [String] the name of the file
        # @return [void]
        def compiled(name)
          @count += 1
          return if @tell.nil? || Clock.now - @told < @pause

          @told = Clock.now
          @tell.call("the first start compiles the application to JavaScript: #{@count} files so far, last #{name}")
        end
      end
    end
  end
end
