# frozen_string_literal: true

module Upwell
  module Pure
    class Scheduler
      # The child of a fork within a fiber ends with that fiber, as it would behind the block of that fork: whoever would go on next is its
      # parent's.
      module ChildEnd
        # Goes before all that Process does at a fork, for the end of the process.
        module AlreadyForked
          class << self
            # @return [Thread, nil] the one that ends the process, until it goes behind its fork
            attr_accessor :ending
          end

          # @return [Integer] what it is in a child
          def _fork
            return super unless AlreadyForked.ending == Thread.current

            AlreadyForked.ending = nil # at_exit may fork
            0
          end
        end

        class << self
          # @param process [Integer] known before anything can be raised into the rest
          # @yield what a fiber does, or what has one go on
          # @return [void]
          def guard(process = Process.pid)
            yield
          rescue Exception => e # rubocop:disable Lint/RescueException
            raise if process == Process.pid
          ensure
            end_process(e) unless process == Process.pid
          end

          private

          # Elsewhere Ruby ends no process on another fiber than the thread's first. A fiber that is stopped ends without a report.
          def end_process(error)
            Process.singleton_class.prepend(AlreadyForked)
            AlreadyForked.ending = Thread.current
            Process.fork { raise error if error && !error.is_a?(Stop) }
          end
        end
      end
      private_constant :ChildEnd
    end
  end
end
