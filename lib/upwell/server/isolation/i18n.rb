# frozen_string_literal: true

require_relative "isolated_gem"

module Upwell
  class Server
    module Isolation
      # I18n stores the locale in a thread variable, which all requests in mode fibers share. This affects I18n 1.14.8 and, before Ruby 3.2
      # (which added fiber storage), later versions. This module is prepended to I18n and stores the locale per fiber.
      module I18n
        extend IsolatedGem

        # Prepends the module if I18n is loaded and needs it.
        def self.establish
          ::I18n.singleton_class.prepend(self) if defined?(::I18n::Config) && shared?
        end

        # Checks whether two fibers of a thread share a configuration.
        def self.shared?
          own = ::I18n.config
          ::Fiber.new { ::I18n.config.equal?(own) }.resume
        end
        private_class_method :shared?

        # @return [I18n::Config] the fiber's
        def config
          Thread.current[:i18n_config] ||= ::I18n::Config.new
        end

        # @return [I18n::Config] the fiber's, which may be changed
        def writable_config
          config.frozen? ? (self.config = config.dup) : config
        end

        # @param value [I18n::Config]
        def config=(value)
          Thread.current[:i18n_config] = value
        end
      end
    end
  end
end
