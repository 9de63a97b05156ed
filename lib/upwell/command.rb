# frozen_string_literal: true

require "optparse"
require_relative "configuration"
require_relative "hide_password"
require_relative "version"

module Upwell
  # A command line built from a list of settings. This class has the options, the help and the error messages that all commands share, on MRI
  # and, compiled by Opal, on a JavaScript runtime.
  class Command
    USAGE_STATUS = 2

    # @param program [String] the command's name
    # @param defaults [Hash{Symbol => Object}] defaults that differ from the settings' own
    def initialize(program, defaults = {})
      @program = program
      @defaults = defaults
      @values = {}
      @lists = {}
    end

    # Parses the arguments and serves.
    #
    # @param arguments [Array<String>]
    # @return [Integer] the exit status: 2 for wrong usage, 1 for an error
    def run(arguments)
      refuse_others(arguments)
      rest = parser.parse(arguments)
      @values.merge!(@lists)
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
      complain("cannot write to standard output: #{ErrnoText.of(e)}", 1)
    end

    # If standard error cannot be written, the exit status alone reports the error.
    def complain(message, status)
      tell("#{@program}: #{HidePassword.hide(message)}")
      status
    end

    def tell(text)
      warn text
    rescue SystemCallError, IOError
      nil
    end

    # OptionParser would accept --header as an abbreviation of --headers-max.
    def refuse_others(arguments)
      names = arguments.take_while { |argument| argument != "--" }.map { |argument| argument[/\A--[^=]+/] }
      other = (SETTINGS - settings).map(&:option).find { |option| names.include?(option) }
      raise OptionParser::InvalidOption, other if other
    end

    # The message says so when only other commands have the option.
    def explanation(error)
      name = error.args.first.to_s
      others = (SETTINGS - settings).find { |setting| [setting.option, setting.short].include?(name) }
      others && error.is_a?(OptionParser::InvalidOption) ? "#{error.message}, which only other commands have" : error.message.rstrip
    end

    def parser
      OptionParser.new do |options|
        options.banner = usage
        settings.each { |setting| define(options, setting) }
        define_more(options)
        options.on("-v", "--version", "print the version") { @action = -> { say(version) } }
        options.on("-h", "--help", "print this help") { @action = -> { say(options.help) } }
      end
    end

    def version
      "upwell #{VERSION}"
    end

    def define_more(_options); end

    def define(options, setting)
      long = [setting.option, setting.argument].compact.join(" ")
      options.on(*[setting.short, long, "#{setting.help}#{default(setting)}"].compact) do |value|
        setting.list? ? (@lists[setting.name] ||= []).push(value) : @values[setting.name] = value
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
