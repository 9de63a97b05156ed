# frozen_string_literal: true

module Upwell
  class Server
    module Logs
      # Describes requests and backtraces for log records.
      module RequestDescription
        # Describes a request.
        #
        # @param env [Hash] the Rack environment, in which the application may have stored any object
        # @return [String] the request and its client, in ASCII
        def self.request(env)
          texts = env.values_at("REQUEST_METHOD", "SCRIPT_NAME", "PATH_INFO", "REMOTE_ADDR").map { |text| printable(text) }
          format("%s %s%s from %s", *texts)
        end

        # Formats a thread's backtrace.
        #
        # @param thread [Thread]
        # @return [String] the backtrace, one frame a line
        def self.of(thread)
          (thread.backtrace || []).map { |line| "    #{line.dup.force_encoding(Encoding::UTF_8)}" }.join("\n")
        end

        def self.printable(text)
          case text # the value may be a BasicObject
          when String then Log.plain(text)
          else "?"
          end
        end
        private_class_method :printable
      end
    end
  end
end
