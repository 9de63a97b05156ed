# frozen_string_literal: true

module Upwell
  class Server
    # I18n 1.14.8, and later ones before Ruby 3.2, which has storage of fibers, keep the locale in a variable of the thread: of all requests in
    # mode fibers. Prepended to I18n, this keeps it by fiber.
    module FiberI18n
      # If I18n is there and needs it.
      def self.establish
        ::I18n.singleton_class.prepend(self) if defined?(::I18n::Config) && shared?
      end

      # Whether two fibers of a thread have the same configuration.
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
