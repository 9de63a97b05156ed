# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/slow_resolver"

# Requests that look up the names of hosts, in mode fibers: others are served meanwhile.
class NamesTest < Minitest::Test
  REQUESTS = 5
  AFTER_ONE_ANOTHER = 1.0 # seconds: what all of them take

  def test_requests_look_names_up_at_once
    SlowResolver.open do |environment|
      BACKENDS.each do |backend|
        ServerProcess.open("--backend", backend, app: "names.ru", environment: environment) do |server|
          bodies, seconds = ask(server)
          assert_equal ["answered"] * REQUESTS, bodies
          assert_operator seconds, :<, AFTER_ONE_ANOTHER * 0.7, backend
        end
      end
    end
  end

  private

  def ask(server)
    RawClient.get(server.port, "/asks?#{server.port}") # has loaded what it takes
    began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    bodies = Array.new(REQUESTS) { Thread.new { RawClient.get(server.port, "/asks?#{server.port}").body } }.map(&:value)
    [bodies, Process.clock_gettime(Process::CLOCK_MONOTONIC) - began]
  end
end
