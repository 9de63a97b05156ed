# frozen_string_literal: true

module Upwell
  module Pure
    class Scheduler
      # The hook for IO.select, and what the others look and wait with.
      module SelectHook
        CLOSED = "stream closed in another thread"
        private_constant :CLOSED

        # The hook for IO.select, which Ruby asks for since 3.2.
        #
        # @param readables [Array<IO>, nil]
        # @param writables [Array<IO>, nil]
        # @param exceptables [Array<IO>, nil]
        # @param timeout [Numeric, nil] seconds
        # @return [Array(Array<IO>, Array<IO>, Array<IO>), nil] those that are ready; nil when the time was up
        # @raise [IOError] when another fiber closes one of them
        def io_select(readables, writables = nil, exceptables = nil, timeout = nil)
          limit = seconds(timeout)
          deadline = Pure.now + limit if limit
          lists = [readables, writables, exceptables].map { |ios| ios || [] }
          until (found = select_now(*lists)) || limit&.zero?
            wait_for_ios(lists, limit)
            limit = [deadline - Pure.now, 0].max if deadline # another fiber may have taken what had come
          end
          found
        end
        remove_method :io_select if RUBY_VERSION < "3.2"

        private

        def select_now(readables, writables = nil, exceptables = nil)
          return IO.select(readables, writables, exceptables, 0) if RUBY_VERSION < "3.2" # which does not ask

          Pure.blocking { IO.select(readables, writables, exceptables, 0) }
        rescue Errno::EBADF, Errno::ENOTSOCK # closed as Ruby was looking
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
