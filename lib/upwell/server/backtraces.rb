# frozen_string_literal: true

module Upwell
  class Server
    # Tells the operator where each thread and each fiber is.
    module Backtraces
      # Writes one record to the log.
      def self.tell
        threads = Thread.list.map { |thread| ["thread #{name(thread)}, #{thread.status}", thread.backtrace] }
        Log.tell(["where the threads and fibers are", *(threads + fibers).map { |title, lines| block(title, lines) }].join("\n"))
      end

      def self.name(thread)
        thread.name || (thread == Thread.main ? "main" : thread.object_id)
      end
      private_class_method :name

      # Those that are at the same place are told once: there may be thousands.
      def self.fibers
        backtraces = ObjectSpace.each_object(Fiber).filter_map { |fiber| fiber.backtrace if fiber.alive? }
        backtraces.reject(&:empty?).tally.map { |lines, count| ["#{count} of the fibers", lines] }
      end
      private_class_method :fibers

      def self.block(title, lines)
        ["  #{title}:", *lines&.map { |line| "    #{line}" }].join("\n")
      end
      private_class_method :block
    end
  end
end
