# frozen_string_literal: true

require "socket"
require_relative "isolated_gem"

module Upwell
  class Server
    module Isolation
      # TCPSocket.new, and so Net::HTTP, resolves names on its own C threads since Ruby 3.4 (Happy Eyeballs). It does not call the scheduler, so
      # no other request is served until the name is resolved. This module disables that feature, and then Ruby calls the scheduler.
      module NameResolution
        extend IsolatedGem

        # Disables the feature if this Ruby has it.
        def self.establish
          Socket.tcp_fast_fallback = false if Socket.respond_to?(:tcp_fast_fallback=)
        end
      end
    end
  end
end
