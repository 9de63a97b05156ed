# frozen_string_literal: true

module Upwell
  module Pure
    class Scheduler
      # A child that was forked within a fiber exits when that fiber ends: all other fibers belong to the parent.
      module ForkedChildExit
        # Prepended to Process when the process ends, before all other hooks of fork.
        module AlreadyForked
          class << self
            # @return [Thread, nil] the thread that ends the process, until it passes its fork
            attr_accessor :ending
          end

          # @return [Integer] 0, the result of fork in a child
          def _fork
            return super unless AlreadyForked.ending == Thread.current

            AlreadyForked.ending = nil # at_exit may fork
            0
          end
        end

        class << self
          # Runs the block, and ends the process afterwards if the block has forked.
          #
          # @param process [Integer] the process id, read before an exception can interrupt
          # @yield runs a fiber, or resumes one
          # @return [void]
          def guard(process = Process.pid)
            yield
          rescue Exception => e # rubocop:disable Lint/RescueException
            raise if process == Process.pid
          ensure
            end_process(e) unless process == Process.pid
          end

          private

          # Process.fork ends the process: Ruby does not exit from another fiber than the thread's first. A stopped fiber ends without a report.
          def end_process(error)
            Process.singleton_class.prepend(AlreadyForked)
            AlreadyForked.ending = Thread.current
            Process.fork { raise error if error && !error.is_a?(Stop) }
          end
        end
      end
      private_constant :ForkedChildExit
    end
  end
end
