# frozen_string_literal: true

module Upwell
  class Server
    # In mode fibers many requests share a thread. Active Support keeps what belongs to one of them, the current attributes and the database
    # connection with its transaction, by thread unless it is told to keep it by fiber. Asked once the application was loaded, whoever loaded it.
    module FiberIsolation
      MIN = { "Active Record" => "7.1", "Rails" => "7.0", "Sequel" => "5.32" }.freeze # the first that can

      # Has Active Support keep it by fiber, if it is there.
      #
      # @return [Boolean] whether that was another level before
      # @raise [ConfigurationError] when the application insists on threads, or its Rails knows nothing else
      def self.establish
        refuse_old_rails
        return false unless defined?(::ActiveSupport::IsolatedExecutionState)
        return false if ::ActiveSupport::IsolatedExecutionState.isolation_level == :fiber

        refuse_choice
        DatabasePools.release # the new level does not find what was taken under the old one
        ::ActiveSupport::IsolatedExecutionState.isolation_level = :fiber
        true
      end

      # @param library [String] with its version
      # @param shared [String] what it keeps by thread
      # @param first [String] the version that can do otherwise
      # @raise [ConfigurationError]
      def self.refuse(library, shared, first)
        raise ConfigurationError, "#{library} shares #{shared} between the requests of a thread; mode fibers needs #{first} or later: choose " \
                                  "mode threads:N"
      end

      # @param library [String]
      # @param version [String]
      # @param shared [String] what it keeps by thread
      # @raise [ConfigurationError] when the version is older than that of MIN
      def self.refuse_old(library, version, shared)
        first = MIN.fetch(library)
        refuse("#{library} #{version}", shared, first) if Gem::Version.new(version) < Gem::Version.new(first)
      end

      def self.refuse_old_rails
        refuse_old("Active Record", ::ActiveRecord::VERSION::STRING, "database connections") if defined?(::ActiveRecord::VERSION)
        refuse_old("Rails", ::Rails::VERSION::STRING, "executions") if defined?(::Rails::VERSION)
      end
      private_class_method :refuse_old_rails

      def self.refuse_choice
        return unless defined?(Railtie) && Railtie.chosen_isolation_level

        raise ConfigurationError, "the application sets config.active_support.isolation_level = " \
                                  "#{Railtie.chosen_isolation_level.inspect}, by which the requests of a thread share current attributes and " \
                                  "database connections; leave it out for mode fibers, or choose mode threads:N"
      end
      private_class_method :refuse_choice
    end
  end
end
