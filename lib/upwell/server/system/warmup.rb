# frozen_string_literal: true

module Upwell
  class Server
    module System
      # Runs Process.warmup (Ruby 3.3 and later) after the application is loaded: it compacts the heap and makes long-lived objects old for the
      # garbage collector. RUBY_DISABLE_WARMUP=1, which Sidekiq reads as well, is for C extensions whose objects must not move.
      module Warmup
        # @return [void]
        def self.run
          Process.warmup if Process.respond_to?(:warmup) && ENV["RUBY_DISABLE_WARMUP"] != "1"
        end
      end
    end
  end
end
