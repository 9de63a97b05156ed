# frozen_string_literal: true

module Upwell
  module Pure
    # Described in scheduler.rb.
    class Scheduler
      # Is prepended to IO on Ruby 3.1, which hands over the pieces of a `puts` one by one and waits after each, so that other fibers would write
      # between; and on Windows, where Ruby gathers them, and writes that itself.
      module Writing
        # @return [Integer] bytes
        def write(*pieces)
          return super unless pieces.size > 1 && Fiber.scheduler.is_a?(Scheduler)

          strings = pieces.map { |piece| "#{piece}" } # rubocop:disable Style/RedundantInterpolation -- whatever `to_s` returns
          super(*Writing.joined(strings))
        end

        # @return [String, Array<String>] several where their encodings do not go together
        def self.joined(strings)
          strings.join
        rescue Encoding::CompatibilityError
          strings
        end
      end
      private_constant :Writing

      IO.prepend(Writing) if RUBY_ENGINE == "ruby" && (RUBY_VERSION < "3.2" || WINDOWS)
    end
  end
end
