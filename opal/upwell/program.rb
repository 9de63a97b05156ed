# backtick_javascript: true
# frozen_string_literal: true

require "upwell/command"
require "upwell/opal/configuration"
require "upwell/error_log"
require "upwell/log"
require "upwell/process_number"
require "upwell/processors"
require "upwell/program/cluster"
require "upwell/program/log_file"
require "upwell/program/pid_file"
require "upwell/program/single"
require "upwell/program/worker"

module Upwell
  # A compiled program: the command line, and what becomes of it. The application comes as a block, which is called where requests are
  # served, and nowhere else.
  #
  #     Upwell::Program.new(:node, ARGV).run { app }
  class Program < Command
    # What a process that serves needs: the runtime's name, the configuration, the log file, and the application, once it is called.
    Part = Struct.new(:runtime, :configuration, :log_file, :load_app)

    # @param runtime [Symbol] :node, :uwebsockets or :bun
    # @param arguments [Array<String>]
    def initialize(runtime, arguments)
      super(name_of_program)
      @runtime = runtime
      @arguments = arguments
    end

    # Serves until a signal ends it; the process ends with the status that {Command#run} tells, or {Single} and {Cluster}.
    #
    # @yieldreturn [#call] the application
    def run(&load_app)
      @load_app = load_app
      status = super(@arguments)
      finish(status) if status
    end

    # Ends the process.
    #
    # @param status [Integer]
    def finish(status)
      `process.exit(status)`
    end

    # Ends it with one sentence.
    #
    # @param message [String]
    def refuse(message)
      finish(complain(message, 1))
    end

    private

    # The command has the runtime called by its own name; without Ruby it is the file's.
    def name_of_program
      own = `require("path").basename(process.argv0)`
      %w[node nodejs bun].include?(own) ? `require("path").basename(process.argv[1])` : own
    end

    def usage
      "Usage: #{@program} [options]"
    end

    def settings
      Opal::Configuration.settings
    end

    # @return [nil] it goes on
    def serve(rest)
      raise ConfigurationError, "one application is compiled in, and nothing else can be served: #{rest.join(" ")}" if rest.any?

      configuration = Opal::Configuration.new(@values, defaults: @defaults) # without the second, Opal would take the first for keywords
      ENV["RACK_ENV"] = configuration.environment
      log_file = LogFile.new(configuration.log_file)
      part = Part.new(@runtime, configuration, log_file, method(:load_app))
      Worker.here? ? Worker.new(part, self).run : begin_serving(part, configuration)
      nil
    end

    def begin_serving(part, configuration)
      PidFile.new(configuration.pid_file).write # first: a server that runs already shall not share its log
      part.log_file.open
      (configuration.workers.zero? ? Single : Cluster).new(part, self).run
    end

    def load_app
      app = @load_app.call
      Evaluation.loaded
      app
    rescue SystemExit => e
      finish(e.status)
    rescue Exception => e # rubocop:disable Lint/RescueException -- JavaScript's own are no StandardError
      ErrorLog.report(e, nil)
      raise ConfigurationError, "the application raised #{e.class} while it was loaded; mend what the backtrace above shows"
    end
  end
end
