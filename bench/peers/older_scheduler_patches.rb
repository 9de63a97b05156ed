# frozen_string_literal: true

# What fiber schedulers lack that are older than Ruby 3.1, or young, so that they can be measured on a Ruby of today.
module OlderSchedulers
  # Nothing but the scheduler knows a fiber that waits: it has to keep it from being collected.
  module KeepsFibers
    def fiber(&block)
      kept = (@kept ||= {}.compare_by_identity)
      super do
        kept[Fiber.current] = true
        block.call
      ensure
        kept.delete(Fiber.current)
      end
    end
  end

  # io_wait tells which events came, as Ruby 3.1 and later want to know.
  module TellsEvents
    def io_wait(io, events, timeout)
      super
      events
    end
  end
end

Libev::Scheduler.prepend(OlderSchedulers::KeepsFibers, OlderSchedulers::TellsEvents) if defined?(Libev)
UringMachine::FiberScheduler.prepend(OlderSchedulers::KeepsFibers) if defined?(UringMachine)
Evt::Epoll.prepend(OlderSchedulers::TellsEvents) if defined?(Evt)
