# frozen_string_literal: true

require "monitor"
require_relative "../../clock"
require_relative "../../errno_text"
require_relative "../../log"

module Upwell
  class Server
    module HotRestart
      # A hot restart, on both sides. The running server starts a {Successor}, and hands its listening sockets over once that one is
      # ready. Until then, and if the new server fails, the running one serves. The new server has a {Predecessor}. Several threads may call
      # the methods.
      class Handover
        INIT = 1
        CAUSE = "hot restart" # of the drain, for the log

        # @param command_line [CommandLine]
        # @param pid_file [System::PidFile]
        # @param seconds [Numeric] in which the new server must be ready
        # @param predecessor [Predecessor, nil] the running server that this one replaces
        def initialize(command_line, pid_file, seconds, predecessor)
          @command_line = command_line
          @pid_file = pid_file
          @seconds = seconds
          @predecessor = predecessor
          @lock = Monitor.new
        end

        # @return [Boolean] whether a running server still has to hand over
        def replacing?
          !@predecessor.nil?
        end

        # Replaces the running server, if there is one. This server is ready.
        #
        # @param listeners [Array<Listening::Listeners::Listener>]
        # @yield once the sockets are this server's
        # @raise [ConfigurationError] when the running server has ended
        def replace(listeners)
          return unless replacing?

          @predecessor.replace
          @predecessor = nil
          Listening::Listeners.own(listeners)
          write_pid_file
          yield
        end

        # @return [Array<IO>] descriptors that a worker process closes
        def ends
          [*@predecessor&.ends, successor&.report].compact
        end

        # Starts a new server. The log says why not.
        #
        # @param cause [String] see {Control::Commands}
        # @param listeners [Array<Listening::Listeners::Listener>]
        # @param notifier [ServiceManager::SingleNotifier, ServiceManager::ClusterNotifier]
        # @return [Boolean] whether it starts
        def start(cause, listeners, notifier)
          @lock.synchronize do
            reason = obstacle
            return tell_ignored(cause, reason) if reason

            @notifier = notifier
            @listeners = listeners
            @successor = Successor.new(@command_line, listeners, @seconds)
            @notifier.hot_restart
            Log.tell("#{cause}: starting a new server; this one serves until the new one is ready")
          end
          true
        rescue SystemCallError, ThreadError => e
          Log.tell("#{cause}: a new server cannot be started: #{ErrnoText.of(e)}; this one keeps serving")
          false
        end

        # @return [Successor, nil] the new server that is starting
        def successor
          @successor unless @done
        end

        # Hands the sockets over once the new server is ready.
        #
        # @param now [Float] see {Clock}
        # @yield when the sockets are no longer this server's, before the new server owns them
        # @return [Boolean] whether this call has handed over
        def check(now = Clock.now)
          @lock.synchronize do
            return false unless successor

            ready = successor.ready?(now)
            return give_up if successor.failure
            return false unless ready

            hand_over
            yield
            @successor.take_over
            true
          end
        end

        # Ends the new server, because this one stops. No other one starts.
        def cancel
          @lock.synchronize do
            successor&.kill
            @done = true
          end
        end

        private

        # The server serves already, also without the file.
        def write_pid_file
          @pid_file.write
        rescue ConfigurationError => e
          Log.tell(e.message)
        end

        def obstacle
          return "this server does not serve yet" if replacing?
          return "this server is process 1, and its end would stop the container: replace the container" if Process.pid == INIT
          return "this server drains already" if @done

          "the new server (process #{@successor.pid}) is starting already" if @successor
        end

        def tell_ignored(cause, reason)
          Log.tell("#{cause} is ignored: #{reason}")
          false
        end

        def hand_over
          @done = true
          Listening::Listeners.lend(@listeners)
          @notifier.hand_over(@successor.pid)
          Log.tell("the new server (process #{@successor.pid}) serves")
          @pid_file.release
        end

        def give_up
          Log.tell("the new server #{@successor.failure}; this one keeps serving")
          @successor = nil
          @notifier.hot_restart_failed
          false
        end
      end
    end
  end
end
