# frozen_string_literal: true

module Upwell
  class Server
    # Active Record's connection pools, where the application has some.
    module DatabasePools
      # @return [Integer, nil] how many requests may have a connection of each pool at once; nil: no pool sets a limit
      def self.size
        handler.connection_pool_list(:all).filter_map(&:size).min if active_record?
      end

      # Gives back the connections that were taken while the application was loaded.
      def self.release
        handler.clear_active_connections!(:all) if active_record?
      end

      def self.active_record?
        defined?(::ActiveRecord::Base)
      end
      private_class_method :active_record?

      def self.handler
        ::ActiveRecord::Base.connection_handler
      end
      private_class_method :handler
    end
  end
end
