# frozen_string_literal: true

require_relative "command"

module Upwell
  # A command for one application: which config.ru, and which configuration file.
  class RackupCommand < Command
    DEFAULT_RACKUP = "config.ru"
    DEFAULT_FILE = "config/upwell.rb"

    private

    def define_more(options)
      options.on("-C", "--config FILE", "settings by the same names, in Ruby: port 8080 [#{DEFAULT_FILE}, if there]") { |path| @file = path }
    end

    # @return [String, nil] its path
    def configuration_file
      @file ||= DEFAULT_FILE if File.file?(DEFAULT_FILE)
      @file
    end

    def refuse_several(rest, purpose)
      raise ConfigurationError, "one config.ru can be #{purpose}, not #{rest.size}: #{rest.join(" ")}" if rest.size > 1
    end

    def rackup_file(argument)
      path = File.expand_path(argument || DEFAULT_RACKUP)
      return path if File.file?(path)

      raise ConfigurationError, "there is no #{path}; go to the application's folder, or name its config.ru"
    end
  end
end
