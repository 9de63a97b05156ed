# frozen_string_literal: true

require_relative "command"

module Upwell
  # A command for one application. It finds config.ru and the configuration file.
  class SingleApplicationCommand < Command
    DEFAULT_RACKUP = "config.ru"
    DEFAULT_FILE = "config/upwell.rb"

    private

    def define_more(options)
      options.on("-C", "--config FILE", "Ruby file of settings, such as: port 8080 [#{DEFAULT_FILE}, if present]") { |path| @file = path }
    end

    # @return [String, nil] its path
    def configuration_file
      @file ||= DEFAULT_FILE if File.file?(DEFAULT_FILE)
      @file
    end

    def refuse_several(rest, purpose)
      raise ConfigurationError, "only one config.ru can be #{purpose}, not #{rest.size}: #{rest.join(" ")}; name one" if rest.size > 1
    end

    # The suggestion for a word that is not a command.
    def suggestion(_word)
      "; name the application's config.ru, or leave the argument out"
    end

    def rackup_file(argument)
      path = File.expand_path(argument || DEFAULT_RACKUP)
      return path if File.file?(path)
      raise ConfigurationError, "#{argument} is neither a file nor a command#{suggestion(argument)}" if argument&.match?(/\A\w+\z/)

      raise ConfigurationError, "#{path} does not exist; change to the application's directory, or name its config.ru"
    end
  end
end
