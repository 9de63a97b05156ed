# frozen_string_literal: true

require "optparse"
require_relative "configuration"
require_relative "version"

module Upwell
  # A command line that is made from a list of settings. What the commands have in common, whether they run on MRI or, compiled by Opal, on a
  # JavaScript runtime: options, help, and how they complain.
  class Command
    USAGE_STATUS = 2

    # @param program [String] the command's name
    # @param defaults [Hash{Symbol => Object}] of the settings that this command has another default for
    def initialize(program, defaults = {})
      @program = program
      @defaults = defaults
      @values = {}
    end

    # @param arguments [Array<String>]
    # @return [Integer] the exit status: 2 for a wrong usage, 1 for what cannot be
    def run(arguments)
      rest = parser.parse(arguments)
      @values[:bind] = @binds if @binds
      @action ? act : serve(rest)
    rescue OptionParser::ParseError => e
      complain("#{explanation(e)}; see #{@program} --help", USAGE_STATUS)
    rescue ConfigurationError => e
      complain(e.message, 1)
    end

    private

    def act
      @action.call.tap { $stdout.flush }
    rescue SystemCallError => e
      complain("standard output cannot be written: #{Reason.of(e)}", 1)
    end

    # The status tells where standard error cannot.
    def complain(message, status)
      tell("#{@program}: #{message}")
      status
    end

    def tell(text)
      warn text
    rescue SystemCallError, IOError
      nil
    end

    # One that only others have is told as such.
    def explanation(error)
      name = error.args.first.to_s
      others = (SETTINGS - settings).find { |setting| [setting.option, setting.short].include?(name) }
      others && error.is_a?(OptionParser::InvalidOption) ? "#{error.message}, which other commands have" : error.message.rstrip
    end

    def parser
      OptionParser.new do |options|
        options.banner = usage
        settings.each { |setting| define(options, setting) }
        define_more(options)
        options.on("-v", "--version", "tells the version") { @action = -> { say(version) } }
        options.on("-h", "--help", "tells this") { @action = -> { say(options.help) } }
      end
    end

    def version
      "upwell #{VERSION}"
    end

    def define_more(_options); end

    def define(options, setting)
      long = [setting.option, setting.argument].compact.join(" ")
      options.on(*[setting.short, long, "#{setting.help}#{default(setting)}"].compact) do |value|
        setting.kind == :binds ? (@binds ||= []).push(value) : @values[setting.name] = value
      end
    end

    def default(setting)
      value = Array(@defaults.fetch(setting.name, setting.default)).join(", ")
      setting.kind == :flag || value.empty? ? "" : " [#{value}]"
    end

    def say(text)
      puts text
      0
    end
  end
end
