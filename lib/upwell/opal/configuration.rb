# frozen_string_literal: true

require_relative "../configuration"

module Upwell
  module Opal
    # The settings of a server on a JavaScript runtime. MRI checks them before it compiles, the compiled program when it
    # starts: both by this class.
    class Configuration < Upwell::Configuration
      SETTINGS = Upwell::SETTINGS.select { |setting| setting.for?(:javascript) }.freeze
      FOREIGN = (Upwell::SETTINGS - SETTINGS).map(&:name).freeze
      AUTO = "auto"

      # @return [Array<Setting>] what there is to configure
      def self.settings
        SETTINGS
      end

      # @return [Array<Symbol>] what a configuration file says that is for the core in C alone
      def unheeded
        hooks = { before_fork: before_fork_hooks, after_fork: after_fork_hooks, certificate: certificates }
        @unheeded.to_a + hooks.reject { |_name, list| list.empty? }.keys
      end

      # See {Upwell::Configuration#set}. A configuration file may be shared with the core: what that alone has changes nothing here.
      def set(name, value, source)
        FOREIGN.include?(name) ? (@unheeded ||= []).push(name) : super
      end

      # @return [Boolean] nothing makes a certificate here
      def self_signed
        false
      end

      # @return [Array<String>] the options that make another program of the same configuration, whatever its environment
      def arguments
        SETTINGS.flat_map { |setting| options(setting, @values.fetch(setting.name)) }
      end

      private

      def options(setting, value)
        return [] if value.nil? || value == false || (value == setting.default && !ENVIRONMENT.value?(setting.name))

        setting.kind == :flag ? [setting.option] : Array(value).map { |one| "#{setting.option}=#{one}" }
      end

      # The runtime knows best how many processors it may use.
      def read_workers(value)
        value.to_s == AUTO && RUBY_ENGINE != "opal" ? AUTO : super
      end
    end
  end
end
