# frozen_string_literal: true

module Upwell
  class Configuration
    # Reads and checks the settings of health checks, and the delay in which load balancers see them fail.
    module HealthChecks
      PROBE_PATH = %r{\A/[!"$->@-~]{0,254}\z}
      DRAIN_DELAY_MAX = 3_600 # seconds; a longer delay keeps a server that should stop

      private

      def read_probe_path(value)
        return value if value.nil? || PROBE_PATH.match?(value)

        raise ArgumentError, "must be a path that begins with a slash, without a query, of at most 255 printable ASCII characters"
      end

      def read_delay(value)
        number = Float(value, exception: false)
        return number if number && (0..DRAIN_DELAY_MAX).cover?(number)

        raise ArgumentError, "must be a number of seconds from 0 to #{DRAIN_DELAY_MAX}"
      end

      def refuse_equal_paths
        return if ready_path.nil? || health_path != ready_path

        raise ConfigurationError, "health_path and ready_path are both #{ready_path}; set two paths, or only one of the settings"
      end
    end
  end
end
