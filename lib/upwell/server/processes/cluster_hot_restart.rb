# frozen_string_literal: true

module Upwell
  class Server
    module Processes
      # The hot restart of a {Cluster}: a new supervisor takes over the sockets of all slots, and this one drains.
      module ClusterHotRestart
        # Starts a new server, which takes over the sockets once it is ready.
        #
        # @param cause [String] see {Control::Commands}
        def hot_restart(cause)
          return Log.tell("#{cause} is ignored: this server does not serve yet") unless @serving

          @handover.start(cause, all_listeners, @notifier)
        end

        private

        def all_listeners
          [*@slots.flat_map(&:listeners), @control&.listener].compact
        end

        # The kernel's choice of the sockets must not change while another server prepares to use them.
        def hot_restart?
          @handover.replacing? || !@handover.successor.nil?
        end

        # Each slot may have a listener of its own for a shared socket.
        def advance_hot_restart
          return unless (successor = @handover.successor)

          log_errors { drain_now(HotRestart::Handover::CAUSE) if @handover.check(@woke) { lend_sockets } }
          @steering.forget unless successor.equal?(@handover.successor)
        end

        def lend_sockets
          @commands.note_stop
          @restart.clear
          @control&.stop
          @slots.each { |slot| log_errors { slot.tell_owner(Worker::LEND) } }
        end

        def replace_predecessor
          @handover.replace(all_listeners) do
            @slots.each { |slot| slot.tell_owner(Worker::OWN) }
            @notifications.unmute
            @steering.forget
          end
        end
      end
    end
  end
end
