# frozen_string_literal: true

module Upwell
  class Server
    module Processes
      # A fork that fails when the system is out of processes. Ruby's own fork sleeps and retries each second without end, and no signal is
      # handled meanwhile. This module interrupts only that sleep: libraries' hooks around a fork (Process._fork) may take any time.
      module Fork
        PATIENCE = 0.5 # seconds, shorter than Ruby's first sleep
        FRAMES = %w[fork _fork].freeze # one of these is the innermost frame during the sleep

        # This exception interrupts the sleep.
        class Refused < StandardError; end

        # Forks a child process that runs the block.
        #
        # @yieldreturn [Integer] the child's exit status
        # @return [Integer] the child's process id
        # @raise [SystemCallError]
        def self.call
          process = Process.pid
          pid = nil
          Thread.handle_interrupt(Refused => :on_blocking) do
            interrupted_when_refused { pid = Process.fork { exit(yield) } }
          end
          pid
        rescue Refused
          pid || raise(Errno::EAGAIN)
        rescue StandardError, ScriptError, NoMemoryError => e
          process == Process.pid ? raise : end_child(e)
        end

        # A library's hook raised this error before the block began. The child must not continue with its parent's code.
        def self.end_child(error)
          ExceptionLog.report(error, nil)
          exit!(1)
        end
        private_class_method :end_child

        def self.interrupted_when_refused
          watcher = watch(Thread.current)
          yield
        ensure
          watcher&.kill&.join
        end
        private_class_method :interrupted_when_refused

        def self.watch(forker)
          Thread.new { loop { sleep(PATIENCE) && refused?(forker) && forker.raise(Refused) } }
        rescue ThreadError # the limit on processes includes threads
          raise Errno::EAGAIN
        end
        private_class_method :watch

        def self.refused?(forker)
          forker.stop? && FRAMES.include?(forker.backtrace_locations(0, 1)&.first&.base_label)
        end
        private_class_method :refused?
      end
    end
  end
end
