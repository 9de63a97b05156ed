# frozen_string_literal: true

module Upwell
  class Server
    # A fork that fails when there are no more processes. Ruby's own sleeps then, and tries again each second without an end: no signal would be
    # obeyed meanwhile. Nothing but that sleep is interrupted: what libraries do around a fork (Process._fork) takes as long as it likes.
    module Fork
      PATIENCE = 0.5 # seconds, so Ruby's first sleep is interrupted
      FRAMES = %w[fork _fork].freeze # one of them is the innermost meanwhile

      # Raised into that sleep.
      class Refused < StandardError; end

      # @yieldreturn [Integer] the child's exit status
      # @return [Integer] the child's number
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

      # Of a library, before the block began: the child must not go on as its parent does.
      def self.end_child(error)
        ErrorLog.report(error, nil)
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
      rescue ThreadError # they are counted as processes are
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
