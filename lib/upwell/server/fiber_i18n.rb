# frozen_string_literal: true

module Upwell
  class Server
    # Before Ruby 3.2, which has storage of fibers, I18n keeps its locale in a variable of the thread: of all requests in mode fibers. Prepended
    # to I18n, this keeps it by fiber.
    module FiberI18n
      # If I18n is there and needs it.
      def self.establish
        ::I18n.singleton_class.prepend(self) if defined?(::I18n::Config) && !::Fiber.respond_to?(:[])
      end

      # @return [I18n::Config] the fiber's
      def config
        Thread.current[:i18n_config] ||= ::I18n::Config.new
      end

      # @param value [I18n::Config]
      def config=(value)
        Thread.current[:i18n_config] = value
      end
    end
  end
end
