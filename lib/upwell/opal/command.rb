# frozen_string_literal: true

require_relative "../single_application_command"
require_relative "../errno_text"
require_relative "configuration"
require_relative "program"
require_relative "runtime"
require_relative "service_manager"

module Upwell
  # Runs applications on JavaScript runtimes, compiled by the gem opal.
  module Opal
    # The command line of `up`, `up_node`, `up_bun` and their clusters. It checks the options, compiles the application, and executes the runtime
    # in its place (execve(2)). The program (opal/upwell/program.rb) then checks the options with the same list.
    class Command < SingleApplicationCommand
      # @param program [String] the command's name
      # @param runtime [Symbol] see {Runtime}
      # @param defaults [Hash{Symbol => Object}] defaults that differ from the settings' own
      def initialize(program, runtime, defaults = {})
        super(program, defaults)
        @runtime = runtime
      end

      private

      def usage
        "Usage: #{@program} [options] [config.ru]"
      end

      def settings
        Configuration.settings
      end

      def serve(rest)
        refuse_several(rest, "served")
        ServiceManager.check { |note| tell("#{@program}: #{note}") }
        configuration = configure
        rackup = rackup_file(rest.first)
        runtime = Runtime.find(@runtime, File.dirname(rackup))
        runtime.become(@program, compile(rackup), configuration.arguments)
      end

      def compile(rackup)
        Program.new(rackup, @runtime, tell: ->(sentence) { tell("#{@program}: #{sentence}") }).path
      end

      def configure
        configuration = Configuration.new(@values, file: configuration_file, defaults: @defaults)
        unheeded = configuration.unheeded
        tell_ignored(unheeded) if unheeded.any?
        configuration
      end

      def tell_ignored(settings)
        tell("#{@program}: configuration file #{configuration_file}: JavaScript runtimes ignore the settings #{settings.join(", ")}")
      end
    end
  end
end
