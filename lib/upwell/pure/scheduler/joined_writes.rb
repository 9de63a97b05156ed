# frozen_string_literal: true

module Upwell
  module Pure
    # This part of the scheduler handles writes in several pieces, see scheduler.rb.
    class Scheduler
      # Prepended to IO on Ruby 3.1 and on Windows. Ruby 3.1 writes the pieces of a `puts` one by one and waits after each, so that other fibers
      # could write between them. On Windows, Ruby joins the pieces and writes without the hook.
      module JoinedWrites
        # @return [Integer] bytes
        def write(*pieces)
          return super unless pieces.size > 1 && Fiber.scheduler.is_a?(Scheduler)

          strings = pieces.map { |piece| "#{piece}" } # rubocop:disable Style/RedundantInterpolation -- whatever `to_s` returns
          super(*JoinedWrites.joined(strings))
        end

        # @return [String, Array<String>] several strings when their encodings are incompatible
        def self.joined(strings)
          strings.join
        rescue Encoding::CompatibilityError
          strings
        end
      end
      private_constant :JoinedWrites

      IO.prepend(JoinedWrites) if RUBY_ENGINE == "ruby" && (RUBY_VERSION < "3.2" || WINDOWS)
    end
  end
end
