# frozen_string_literal: true

module Upwell
  module Pure
    class Scheduler
      # The hook for IO.select, with the waits and checks that the other hooks use.
      module SelectHook
        CLOSED = "stream closed in another thread"
        private_constant :CLOSED

        # Waits for several IOs (Fiber::Scheduler#io_select). Ruby calls this hook since 3.2.
        #
        # @param readables [Array<IO>, nil]
        # @param writables [Array<IO>, nil]
        # @param exceptables [Array<IO>, nil]
        # @param timeout [Numeric, nil] seconds
        # @return [Array(Array<IO>, Array<IO>, Array<IO>), nil] the ready IOs; nil after the time-out
        # @raise [IOError] when another fiber closes one of the IOs
        def io_select(readables, writables = nil, exceptables = nil, timeout = nil)
          limit = seconds(timeout)
          deadline = Pure.now + limit if limit
          lists = [readables, writables, exceptables].map { |ios| copy_of(ios) }
          until (found = select_now(*lists)) || limit&.zero?
            wait_for_ios(lists, limit)
            limit = [deadline - Pure.now, 0].max if deadline # another fiber may have consumed the event
          end
          found
        end
        remove_method :io_select if RUBY_VERSION < "3.2"

        private

        # Other fibers may change the caller's arrays. IO.select refuses other objects than arrays.
        def copy_of(ios)
          return [] if ios.nil?

          ios.is_a?(Array) ? ios.dup : ios
        end

        def select_now(readables, writables = nil, exceptables = nil)
          return IO.select(readables, writables, exceptables, 0) if RUBY_VERSION < "3.2" # this Ruby does not call the hook

          Pure.blocking { IO.select(readables, writables, exceptables, 0) }
        rescue Errno::EBADF, Errno::ENOTSOCK # another thread closed the IO during the call
          raise IOError, CLOSED
        end

        def wait_for_ios(ios, timeout)
          wait = fibers.wait(ios: ios, timeout: seconds(timeout))
          raise IOError, CLOSED if wait.cut_off? || ios.flatten(1).any? { |io| io.to_io.closed? }

          wait.found
        end
      end
    end
  end
end
