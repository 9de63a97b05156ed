# frozen_string_literal: true

# An application in which everything carries the id of the client it is for, and which does what applications do, at random.

require "json"
require_relative "allowed_outcomes"
require_relative "served_request"
require_relative "response_bodies"
require_relative "responses_from_other_threads"
require_relative "application_hijacks"
require_relative "application_exceptions"
require_relative "interruptions"

module RequestIsolation
  class Application
    include ResponseBodies
    include ResponsesFromOtherThreads
    include ApplicationHijacks
    include ApplicationExceptions
    include Interruptions

    ASIDE_THREADS_MAX = 100
    HELD = [Upwell::Stream, Upwell::Hijack, Upwell::EarlyHints, Upwell::Input].freeze

    def call(env)
      return rest if env["PATH_INFO"] == "/rest"

      visit = ServedRequest.new(env)
      find_nothing(visit)
      register(visit)
      send_hints(visit)
      raise "no such act: #{visit.act}" unless ACTS.key?(visit.act)

      public_send(visit.act, visit)
    end

    private

    # What is left when nobody asks any more.
    def rest
      GC.start
      held = HELD.to_h { |kind| [kind.name, ObjectSpace.each_object(kind).count] }
      state = { pid: Process.pid, due: Ledger::DUE.keys.first(10), threads: Thread.list.size, held: held }
      [200, { "content-type" => "application/json" }, [JSON.generate(state)]]
    end

    # In a fiber nothing of another request is left.
    def find_nothing(visit)
      left = Thread.current[:request_isolation] if FIBERS
      RequestIsolation.trouble(visit.id, "finds what #{left} left in its fiber") if left
      RequestIsolation.trouble(visit.id, "finds what #{visit.env["isolation.id"]} left in its env") if visit.env["isolation.id"]
      visit.env["isolation.id"] = Thread.current[:request_isolation] = visit.id
    end

    def register(visit)
      return unless visit.random.rand(2).zero?

      thread = Thread.current
      fiber = Fiber.current
      Ledger.expect(visit.id, "response_finished of #{visit.act}")
      visit.env["rack.response_finished"] << lambda { |env, _status, _headers, _error|
        Ledger.settle(visit.id, "response_finished of #{visit.act}")
        RequestIsolation.trouble(visit.id, "response_finished is given the env of #{env["isolation.id"]}") if env["isolation.id"] != visit.id
        RequestIsolation.trouble(visit.id, "response_finished runs on another thread") if Thread.current != thread
        RequestIsolation.trouble(visit.id, "response_finished runs on another fiber") if FIBERS && Fiber.current != fiber
      }
    end

    def send_hints(visit)
      visit.env["rack.early_hints"].call("link" => visit.id) if visit.random.rand(5).zero?
    end
  end
end

missing = RequestIsolation::ACTS.keys - RequestIsolation::Application.public_instance_methods(false).map(&:to_s) - RequestIsolation::Application.instance_methods.map(&:to_s)
abort "acts without a method: #{missing.join(", ")}" if missing.any?

run RequestIsolation::Application.new
