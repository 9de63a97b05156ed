# frozen_string_literal: true

module Upwell
  class Server
    module Logs
      # Chooses the stream of the access log.
      module AccessLog
        # A stream by its number. The application may close the IO, but the descriptor stays open.
        Descriptor = Struct.new(:fileno)

        # @param configuration [Configuration, StaticConfiguration]
        # @param log_file [LogFile] opens the file later
        # @return [#fileno, nil] the stream, or nil without a log
        # @raise [ConfigurationError] when the file is no log
        def self.stream(configuration, log_file)
          path = configuration.access_log
          return (standard_output if at_terminal?(configuration)) if path.nil?
          return standard_output if path == Configuration::STANDARD_OUTPUT

          refuse(path, "a directory") if File.directory?(path)
          refuse(path, "a Rack application") if path.end_with?(".ru")
          log_file.add(path, "--access-log")
        end

        def self.standard_output
          Descriptor.new($stdout.fileno)
        end
        private_class_method :standard_output

        # Whether a person reads a short line for each request at the terminal.
        def self.at_terminal?(configuration)
          configuration.development? && !configuration.quiet && configuration.log_file.nil? && configuration.log_format == "combined" &&
            $stdout.tty?
        end
        private_class_method :at_terminal?

        # The option takes the next word as its FILE.
        def self.refuse(path, kind)
          raise ConfigurationError, "option access_log: #{path} is #{kind}; name a file, or put #{path} before --access-log"
        end
        private_class_method :refuse
      end
    end
  end
end
