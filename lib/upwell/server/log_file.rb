# frozen_string_literal: true

module Upwell
  class Server
    # Sends standard output and error to a file, and opens it again after it was moved away (logrotate).
    class LogFile
      # @param path [String, nil] nil leaves the streams as they are
      def initialize(path)
        @path = path && File.expand_path(path)
      end

      # @raise [ConfigurationError] when the file cannot be written
      def open
        reopen
      rescue SystemCallError => e
        raise ConfigurationError, "log file #{@path} cannot be written: #{e.message}"
      end

      # May be called in a trap handler. A file that cannot be written now leaves the server with the one it has.
      def open_again
        reopen
      rescue SystemCallError => e
        $stderr.write("Upwell: log file #{@path} cannot be opened again: #{e.message}\n")
      end

      private

      def reopen
        [$stdout, $stderr].each do |stream|
          stream.reopen(@path, "a") if @path
          stream.sync = true
        end
      end
    end
  end
end
