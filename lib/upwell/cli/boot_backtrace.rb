# frozen_string_literal: true

module Upwell
  class CLI
    # Shortens the backtrace of an exception that the application raised while it was loaded, by removing the frames of the loader.
    module BootBacktrace
      OURS = File.expand_path("../..", __dir__)
      LOADERS = %r{/rack/builder\.rb:|/rubygems|/bundler[/-]|exe/|\Abin/|/bin/|\A<internal:}

      # Shortens the backtraces of an exception and its causes.
      #
      # @param error [Exception]
      # @return [void]
      def self.shorten(error)
        seen = []
        while error && seen.none? { |other| other.equal?(error) }
          seen << error
          cut(error) if error.backtrace && !error.frozen?
          error = error.cause
        end
      end

      # Only the outermost frames are removed: an application may call the server's code, too.
      def self.cut(error)
        outer = error.backtrace.reverse_each.take_while { |frame| frame.start_with?(OURS) || LOADERS.match?(frame) }
        error.set_backtrace(error.backtrace.first(error.backtrace.size - outer.size))
      end
      private_class_method :cut
    end
  end
end
