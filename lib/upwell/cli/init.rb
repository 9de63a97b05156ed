# frozen_string_literal: true

require_relative "../errno_text"
require_relative "systemd_units"

module Upwell
  class CLI
    # `upwell init systemd` writes the units of a service for the application in the current directory.
    class Init < CLI
      KINDS = %w[systemd].freeze
      NEXT = <<~TEXT.chomp
        Read both files, then install them:
          sudo cp upwell.service upwell.socket /etc/systemd/system/
          sudo systemctl daemon-reload
          sudo systemctl enable --now upwell.socket upwell.service
      TEXT

      private

      def usage
        "Usage: #{@program} systemd [options]"
      end

      def settings
        []
      end

      def define_more(options)
        options.on("-C", "--config FILE", "Ruby file of settings [#{DEFAULT_FILE}, if present]") { |path| @file = path }
      end

      def serve(rest)
        raise ConfigurationError, "name what to create: #{@program} #{KINDS.join(", ")}" unless KINDS.include?(rest.first) && rest.one?

        rackup_file(nil)
        units = SystemdUnits.new(configure, Dir.pwd, start_command).texts
        refuse_existing(units.keys)
        units.each { |name, text| write(name, text) }
        say(NEXT)
      end

      def refuse_existing(names)
        name = names.find { |candidate| File.exist?(candidate) }
        raise ConfigurationError, "#{name} exists already; remove it, or change to another directory" if name
      end

      def write(name, text)
        File.write(name, text)
        say("wrote #{name}")
      rescue SystemCallError => e
        raise ConfigurationError, "#{name} cannot be written: #{ErrnoText.of(e)}"
      end

      # Systemd needs an absolute path. With a Gemfile, Bundler selects the gems.
      def start_command
        bundle = executable("bundle") if File.file?("Gemfile")
        words = bundle ? [bundle, "exec", "upwell"] : [executable("upwell") || File.expand_path($PROGRAM_NAME)]
        @file && @file != DEFAULT_FILE ? [*words, "-C", File.expand_path(@file)] : words
      end

      def executable(name)
        ENV.fetch("PATH", "").split(File::PATH_SEPARATOR).map { |folder| File.join(folder, name) }
          .find { |file| File.file?(file) && File.executable?(file) }
      end
    end
  end
end
