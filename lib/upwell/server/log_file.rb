# frozen_string_literal: true

module Upwell
  class Server
    # Sends streams to files, standard output and error to begin with, and opens the files again after they were moved away (logrotate).
    class LogFile
      # @param path [String, nil] nil leaves standard output and error as they are
      def initialize(path)
        @paths = { $stdout => path, $stderr => path }
      end

      # @param path [String]
      # @return [IO] another stream, open once {#open} was called
      def add(path)
        IO.for_fd(IO.sysopen(File::NULL, "a"), "a").tap { |stream| @paths[stream] = path }
      end

      # @raise [ConfigurationError] when a file cannot be written
      def open
        @paths.transform_values! { |path| path && File.expand_path(path) }
        reopen do |path, error|
          raise ConfigurationError, "log file #{path} cannot be written: #{Reason.of(error)}; choose another with --log-file"
        end
      end

      # May be called in a trap handler. A file that cannot be written now leaves the server with the one it has.
      def open_again
        reopen { |path, error| Log.tell("log file #{path} cannot be opened again: #{Reason.of(error)}") }
      end

      private

      def reopen
        @paths.each do |stream, path|
          stream.reopen(path, "a") if path
          stream.sync = true
        rescue SystemCallError, IOError => e
          yield path, e
        end
      end
    end
  end
end
