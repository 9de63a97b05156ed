# frozen_string_literal: true

module Upwell
  class Configuration
    # Reads and checks the settings of the logs.
    module Logs
      LOG_FORMATS = %w[combined json].freeze
      STANDARD_OUTPUT = "-"
      LOGGED_PATH = %r{\A/[^?#\s]*\z}

      # @return [#fileno, nil] the stream of the access log; the command opens it
      attr_accessor :access_log_stream
      # @return [Integer, nil] the number of this worker process, for the access log
      attr_accessor :worker

      # @return [Boolean] whether an application is being developed
      def development?
        environment == "development"
      end

      # @return [Boolean] whether a person reads a line for each request at a terminal
      def terminal_log?
        access_log.nil? && !access_log_stream.nil?
      end

      private

      def log_settings
        format = log_format.to_sym
        { log_format: format, access_log: access_log_stream, access_log_format: terminal_log? ? :terminal : format, worker: worker }
      end

      # An option without an argument gives nil and means standard output. Without the option this method is not called.
      def read_log(value)
        value.nil? || value == true ? STANDARD_OUTPUT : value.to_s
      end

      def read_log_format(value)
        return value.to_s if LOG_FORMATS.include?(value.to_s)

        raise ArgumentError, "must be #{LOG_FORMATS.join(" or ")}"
      end

      def read_paths(values)
        paths = Array(values).map(&:to_s)
        return paths if paths.all? { |path| LOGGED_PATH.match?(path) }

        raise ArgumentError, "must be paths that begin with a slash, without a query"
      end
    end
  end
end
