# frozen_string_literal: true

require_relative "../../clock"
require_relative "../../log"

module Upwell
  class Server
    module Control
      # The operator's commands to a process. A signal gives a command; other code gives one by its name, from any thread.
      #
      # The receiver of the commands has a method for each command that the process obeys. The method runs on the calling thread. Its argument
      # is the cause of the command, for the log:
      #
      # - stop: `drain`. A second stop, after {SAME_STOP} seconds: `stop_at_once`
      # - reload: `reopen_logs`, which also reloads the certificates
      # - restart: `phased_restart`
      # - upgrade: `hot_restart`
      # - threads: `print_backtraces`
      class Commands
        METHODS = { "stop" => :drain, "reload" => :reopen_logs, "restart" => :phased_restart, "upgrade" => :hot_restart,
                    "threads" => :print_backtraces }.freeze
        SIGNALS = { "TERM" => "stop", "INT" => "stop", "HUP" => "reload", "USR1" => "restart", "USR2" => "upgrade", "TTIN" => "threads" }.freeze
        STOP_SIGNALS = %w[TERM INT].freeze
        HARMLESS_SIGNALS = (SIGNALS.keys - STOP_SIGNALS).freeze
        # Seconds in which more stops count as the same stop: terminals and process managers signal the process and then its group.
        SAME_STOP = 1

        # Describes a second stop, for the log.
        #
        # @param effect [String]
        # @return [String]
        def self.later(effect)
          "a second signal after #{SAME_STOP} s #{effect}"
        end

        # @param receiver [Object] the process
        # @param hint [String] for the operator who gives a command that the process does not obey
        def initialize(receiver, hint: "restart the server instead")
          @receiver = receiver
          @hint = hint
          @lock = Mutex.new
        end

        # @param names [Array<String>] of signals
        # @return [Hash{String => #call}] the handlers of these signals, for {Signals}
        def handlers(names)
          names.to_h { |name| [name, method(:signal)] }
        end

        # Gives the command of a signal.
        #
        # @param name [String]
        # @param at [Float] the time of arrival, see {Clock}
        # @raise [KeyError] when the server has no use for the signal
        def signal(name, at = Clock.now)
          call(SIGNALS.fetch(name), "SIG#{name}", at)
        end

        # Gives a command.
        #
        # @param command [String] stop, reload, restart, upgrade or threads
        # @param cause [String] the beginning of the log's sentence
        # @param at [Float] the time of the command, see {Clock}
        # @raise [KeyError] when no command has this name
        # @raise [StandardError] when the receiver fails
        def call(command, cause, at = Clock.now)
          return stop(cause, at) if command == "stop"

          method = METHODS.fetch(command)
          @receiver.respond_to?(method) ? @receiver.public_send(method, cause) : ignore(cause)
        end

        # Records that the process stops, without a command. The next stop is a second one.
        #
        # @param at [Float] see {Clock}
        # @return [Float, nil] the time of the first stop, unless this is the first one
        def note_stop(at = Clock.now)
          @lock.synchronize do
            first = @stopped
            @stopped ||= at
            first
          end
        end

        private

        def stop(cause, at)
          first = note_stop(at)
          return @receiver.drain(cause) unless first

          @receiver.stop_at_once(cause) unless at - first < SAME_STOP
        end

        def ignore(cause)
          Log.tell("#{cause} is ignored; #{@hint}")
        end
      end
    end
  end
end
