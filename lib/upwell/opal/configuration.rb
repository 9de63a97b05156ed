# frozen_string_literal: true

require_relative "../configuration"

module Upwell
  module Opal
    # The settings of a server on a JavaScript runtime. This class checks them twice: on MRI before the compilation, and in the compiled program
    # at its start.
    class Configuration < Upwell::Configuration
      SETTINGS = Upwell::SETTINGS.select { |setting| setting.for?(:javascript) }.freeze
      FOREIGN = (Upwell::SETTINGS - SETTINGS).map(&:name).freeze
      AUTO = "auto"
      PLAIN_PATH = "must have no question mark after unix:PATH: a JavaScript runtime cannot set mode, user or group"

      # @return [Array<Setting>] all settings
      def self.settings
        SETTINGS
      end

      # @return [Array<Symbol>] settings of the configuration file that only the C core supports
      def unheeded
        hooks = { before_fork: before_fork_hooks, after_fork: after_fork_hooks, certificate: certificates }
        @unheeded.to_a + hooks.reject { |_name, list| list.empty? }.keys
      end

      # Sets a value, see {Upwell::Configuration#set}. Settings of the C core are ignored, since a configuration file may be shared with it.
      def set(name, value, source)
        FOREIGN.include?(name) ? (@unheeded ||= []).push(name) : super
      end

      # @return [Boolean] false: this server creates no certificate
      def self_signed
        false
      end

      # @return [Array<String>] options that reproduce this configuration in another process, whatever its environment
      def arguments
        SETTINGS.flat_map { |setting| options(setting, @values.fetch(setting.name)) }
      end

      private

      def options(setting, value)
        return [] if value.nil? || value == false || (value == setting.default && !ENVIRONMENT.value?(setting.name))

        setting.kind == :flag ? [setting.option] : Array(value).map { |one| "#{setting.option}=#{one}" }
      end

      def check_address(address)
        return TLS::SSLAddress.match?(address) && TLS::SSLAddress.new(address) unless address.start_with?("unix:")

        raise ArgumentError, PLAIN_PATH if address.include?("?")
      end

      # The runtime determines the number of available processors.
      def read_workers(value)
        value.to_s == AUTO && RUBY_ENGINE != "opal" ? AUTO : super
      end
    end
  end
end
