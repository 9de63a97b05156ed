# backtick_javascript: true
# frozen_string_literal: true

require "upwell/command"
require "upwell/opal/configuration"
require "upwell/opal/service_manager"
require "upwell/exception_log"
require "upwell/log"
require "upwell/process_id"
require "upwell/processor_count"
require "upwell/program/cluster"
require "upwell/program/log_file"
require "upwell/program/pid_file"
require "upwell/program/single_process"
require "upwell/program/worker"

module Upwell
  # A compiled program, started by its command line. The block with the application runs only in processes that serve requests.
  #
  #     Upwell::Program.new(:node, ARGV).run { app }
  class Program < Command
    # The parts of a serving process: the runtime's name, the configuration, the log file, and a block that loads the application.
    Part = Struct.new(:runtime, :configuration, :log_file, :load_app)

    # @param runtime [Symbol] :node, :uwebsockets or :bun
    # @param arguments [Array<String>]
    def initialize(runtime, arguments)
      super(name_of_program)
      @runtime = runtime
      @arguments = arguments
    end

    # Serves until a signal stops it. The process exits with the status of {Command#run}, {SingleProcess} or {Cluster}.
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

    # Ends the process with an error message.
    #
    # @param message [String]
    def refuse(message)
      finish(complain(message, 1))
    end

    private

    # The command gives the runtime its own name. Without Ruby the name is the file's.
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

    # @return [nil] the process continues
    def serve(rest)
      raise ConfigurationError, "this program serves only the application compiled into it; remove the argument #{rest.join(" ")}" if rest.any?

      Opal::ServiceManager.check { |note| Log.tell(note) }
      configuration = Opal::Configuration.new(@values, defaults: @defaults) # without `defaults`, Opal would take the values for keywords
      ENV["RACK_ENV"] = configuration.environment
      log_file = LogFile.new(configuration.log_file)
      part = Part.new(@runtime, configuration, log_file, method(:load_app))
      Worker.here? ? Worker.new(part, self).run : begin_serving(part, configuration)
      nil
    end

    def begin_serving(part, configuration)
      PidFile.new(configuration.pid_file).write # first: a second server must not write to the running server's log
      part.log_file.open
      (configuration.workers.zero? ? SingleProcess : Cluster).new(part, self).run
    end

    def load_app
      app = @load_app.call
      Evaluation.loaded
      app
    rescue SystemExit => e
      finish(e.status)
    rescue Exception => e # rubocop:disable Lint/RescueException -- JavaScript's own are no StandardError
      sentence = lacking(e)
      ExceptionLog.report(e, nil) unless sentence
      raise ConfigurationError, sentence || "the application raised #{e.class} while loading; correct the place that the backtrace above names"
    end

    # Names the gem that needs features missing on JavaScript runtimes.
    #
    # @return [String, nil]
    def lacking(error)
      return unless LoadError === error || NameError === error || NotImplementedError === error
      return if Evaluation::NoCompiler === error # its message names the remedy

      frames = error.backtrace.to_a.map { |frame| frame.delete_prefix("gems/lib/") }
      application = frames.index { |frame| frame.start_with?("/") }
      feature = frames[application - 1][%r{\A(?!upwell/)[\w-][^:]*(?=\.rb:)}] if application&.positive?
      return unless feature

      "the gem of #{feature} does not work on JavaScript runtimes: #{error.message.lines.first.chomp} (#{frames.first[/\A[^:]+/]}); " \
        "remove it, or serve with up_ruby"
    end
  end
end
