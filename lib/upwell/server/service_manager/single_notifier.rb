# frozen_string_literal: true

module Upwell
  class Server
    module ServiceManager
      # Notifies the service manager of the state of a server without workers. A thread sends what is due.
      class SingleNotifier
        UPGRADES = "starts a new server"

        # @param notifications [Notifications]
        def initialize(notifications)
          @notifications = notifications
        end

        # Reports that the server serves.
        #
        # @param server [Server, StaticServer]
        # @raise [ThreadError]
        def ready(server)
          @server = server
          @notifications.ready(status)
          Thread.new { loop { tick } }.name = "upwell notify" if @notifications.on?
        end

        # Reports a reload around the block.
        def reload(&block)
          @notifications.reload("reloads", status, &block)
        end

        # Reports the start of a new server.
        def hot_restart
          @upgrading = true
          @notifications.reloading(status)
        end

        # Reports that the new server has failed.
        def hot_restart_failed
          @upgrading = false
          @notifications.ready(status)
        end

        # Makes the service manager follow the new server.
        #
        # @param pid [Integer]
        def hand_over(pid)
          @notifications.hand_over(pid)
        end

        # Reports the beginning of a stop.
        def stopping
          @stopping = true
          @notifications.stopping(status)
        end

        private

        def tick
          sleep(@notifications.interval)
          @notifications.tick(status, alive: @server.turning?(@notifications.interval))
        rescue StandardError, NoMemoryError => e # the next tick still comes: without it the watchdog would end the server
          ExceptionLog.notification(e)
        end

        def status
          return "starts" unless @server

          return UPGRADES if @upgrading && !@stopping

          @stopping ? ["draining", *in_flight].join(", ") : "serves on #{@server.addresses}"
        end

        # @return [String, nil]
        def in_flight
          count = @server.in_flight
          "#{count} request#{"s" unless count == 1} in flight" if count
        end
      end
    end
  end
end
