# frozen_string_literal: true

module Upwell
  class Server
    module Isolation
      # The connection pools of Active Record and Sequel, if the application has any.
      module DatabasePools
        # Finds the smallest connection pool.
        #
        # @return [Integer, nil] the number of requests that can use a connection of each pool at once; nil: no pool sets a limit
        def self.size
          [*active_record_sizes, *sequel_sizes].min
        end

        # Releases the connections that were acquired while the application was loaded.
        def self.release
          handler.clear_active_connections!(:all) if active_record?
        end

        def self.active_record_sizes
          handler.connection_pool_list(:all).filter_map(&:size) if active_record?
        end
        private_class_method :active_record_sizes

        def self.sequel_sizes
          ::Sequel::DATABASES.map { |database| database.pool.max_size } if defined?(::Sequel::DATABASES)
        end
        private_class_method :sequel_sizes

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
end
