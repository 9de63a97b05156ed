# frozen_string_literal: true

module Upwell
  class Server
    module Control
      # Signals without a handler. Ruby raises these into the main thread, where a request may run. The server distinguishes them from that
      # request's own exceptions only when a trap handler raises them.
      module DefaultSignals
        NAMES = %w[HUP INT TERM QUIT USR1 USR2].freeze # Ruby raises an exception for these
        DEFAULT = "DEFAULT"
        RAISE = ->(number) { raise number == Signal.list["INT"] ? Interrupt.new("") : SignalException.new(number) }

        # Installs handlers that raise the same exceptions while the block runs.
        def self.trap
          taken = []
          return yield unless Thread.current == Thread.main

          NAMES.each { |name| taken << name if take?(name) }
          yield
        ensure
          taken.each { |name| give_back(name) }
        end

        # Existing handlers are not changed. A signal that arrives meanwhile is sent again.
        def self.take?(name)
          missed = false
          before = Signal.trap(name) { missed = true }
          free = before == DEFAULT
          Signal.trap(name, free ? RAISE : before) # nil as an old or new handler means that the signal is ignored
          Process.kill(name, Process.pid) if missed
          free
        end
        private_class_method :take?

        # The application may have installed its own handler meanwhile.
        def self.give_back(name)
          now = Signal.trap(name, DEFAULT)
          Signal.trap(name, now) unless now.equal?(RAISE)
        end
        private_class_method :give_back
      end
    end
  end
end
