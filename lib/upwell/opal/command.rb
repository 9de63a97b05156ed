# frozen_string_literal: true

require_relative "../rackup_command"
require_relative "../reason"
require_relative "configuration"
require_relative "program"
require_relative "runtime"

module Upwell
  # The same applications on JavaScript runtimes, compiled by the gem opal.
  module Opal
    # The command line of `up`, `up_node`, `up_bun` and their clusters: checks the options, has the application compiled, and becomes the runtime
    # that runs it. From then on everything is the program's own (opal/upwell/program.rb), which checks them by the same list.
    class Command < RackupCommand
      # @param program [String] the command's name
      # @param runtime [Symbol] see {Runtime}
      # @param defaults [Hash{Symbol => Object}] of the settings that this command has another default for
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
        configuration = configure
        rackup = rackup_file(rest.first)
        runtime = Runtime.find(@runtime, File.dirname(rackup))
        runtime.become(@program, compile(rackup), configuration.arguments)
      end

      def compile(rackup)
        Program.new(rackup, @runtime).path
      rescue LoadError => e
        raise unless e.path.to_s.match?(/\Aopal\b/)

        raise ConfigurationError, "the gem opal, which compiles the application, is not there; install it: #{install_opal}"
      end

      def install_opal
        ENV["BUNDLE_GEMFILE"] ? 'bundle add opal --version "~> 1.8"' : 'gem install opal -v "~> 1.8"'
      end

      def configure
        configuration = Configuration.new(@values, file: configuration_file, defaults: @defaults)
        unheeded = configuration.unheeded
        tell("#{@program}: configuration file #{configuration_file}: not heeded here: #{unheeded.join(", ")}") if unheeded.any?
        configuration
      end
    end
  end
end
