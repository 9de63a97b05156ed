# frozen_string_literal: true

module Upwell
  class Server
    module Logs
      # Logs the backtrace of each thread and each fiber.
      module Backtraces
        # Writes one log record.
        def self.tell
          threads = Thread.list.map { |thread| ["thread #{name(thread)}, #{thread.status}", thread.backtrace] }
          Log.tell(["backtraces of all threads and fibers", *(threads + fibers).map { |title, lines| block(title, lines) }].join("\n"))
        end

        def self.name(thread)
          thread.name || (thread == Thread.main ? "main" : thread.object_id)
        end
        private_class_method :name

        # Fibers with the same backtrace are reported once, since there may be thousands.
        def self.fibers
          backtraces = ObjectSpace.each_object(Fiber).filter_map { |fiber| fiber.backtrace if fiber.alive? }
          backtraces.reject(&:empty?).tally.map { |lines, count| ["fibers at this place: #{count}", lines] }
        end
        private_class_method :fibers

        def self.block(title, lines)
          ["  #{title}:", *lines&.map { |line| "    #{line}" }].join("\n")
        end
        private_class_method :block
      end
    end
  end
end
