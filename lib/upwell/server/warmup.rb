# frozen_string_literal: true

module Upwell
  class Server
    # The application has been loaded: from Ruby 3.3 on, what it consists of is put together in memory, and not looked at again by every
    # collection of garbage. RUBY_DISABLE_WARMUP=1, which Sidekiq knows as well, is for C extensions that do not bear their objects to be moved.
    module Warmup
      # @return [void]
      def self.run
        Process.warmup if Process.respond_to?(:warmup) && ENV["RUBY_DISABLE_WARMUP"] != "1"
      end
    end
  end
end
