# frozen_string_literal: true

require "rbconfig"

module Upwell
  class Server
    module HotRestart
      # The command that started this process. Run again, it loads the Gemfile, the code and the settings of that time.
      class CommandLine
        # Variables that describe this process alone.
        OWN = %w[LISTEN_FDS LISTEN_PID LISTEN_FDNAMES LISTEN_PIDFDID WATCHDOG_PID].freeze
        GEMFILES = %w[Gemfile gems.rb].freeze
        GEMFILE = "BUNDLE_GEMFILE"
        BUNDLE = "BUNDLE_BIN_PATH" # Bundler sets it to the path of the command bundle

        # @param program [String] the script
        # @param arguments [Array<String>]
        # @param environment [Hash{String => String}] of the start
        def initialize(program = $PROGRAM_NAME, arguments = ARGV, environment = ENV)
          @program = program.dup
          @arguments = arguments.dup
          @bundle = environment[BUNDLE] if defined?(Bundler)
          @gemfile = environment[GEMFILE]
          @directory = logical_directory(environment["PWD"])
          @environment = (@bundle ? Bundler.original_env : environment.to_h).except(*OWN)
        end

        # Starts the command.
        #
        # @param variables [Hash{String => String}] further variables of its environment
        # @param descriptors [Array<IO>] that it inherits, with the same numbers
        # @return [Integer] the process id
        # @raise [SystemCallError]
        def spawn(variables, descriptors)
          kept = descriptors.to_h { |io| [io.fileno, io.fileno] }
          Process.spawn({ **@environment, **gemfile, **variables }, *words, chdir: @directory, unsetenv_others: true, **kept)
        end

        private

        def words
          [RbConfig.ruby, *([@bundle, "exec"] if @bundle), @program, *@arguments]
        end

        # The name of the directory may be a symbolic link that a deployment moves.
        def logical_directory(name)
          name && File.identical?(name, Dir.pwd) ? name : Dir.pwd
        end

        # Bundler finds a Gemfile in the directory or above it. Another one must be named again.
        def gemfile
          @bundle && @gemfile && !@environment.key?(GEMFILE) && !gemfile_found? ? { GEMFILE => @gemfile } : {}
        end

        def gemfile_found?
          directory = File.expand_path(@directory)
          until GEMFILES.any? { |name| File.file?(File.join(directory, name)) }
            return false if directory == File.dirname(directory)

            directory = File.dirname(directory)
          end
          true
        end
      end
    end
  end
end
