# frozen_string_literal: true

require_relative "../test_helper"

# Fiber#kill in mode fibers: the request ends that it strikes, and nothing else.
class FiberKillTest < Minitest::Test
  UNANSWERED = %w[kills_itself ensures reads locks hints].freeze
  STRUCK_LATER = %w[each close finished hijacker awaits_user].freeze # some part of a response is on its way

  def setup
    skip "Fiber#kill is of Ruby 3.3" unless Fiber.method_defined?(:kill)
  end

  BACKENDS.each do |backend|
    UNANSWERED.each do |place|
      define_method("test_a_fiber_killed_where_it_#{place}_on_#{backend}") do
        serve(backend) { |server| assert_equal 500, RawClient.get(server.port, "/#{place}").status }
      end
    end

    STRUCK_LATER.each do |place|
      define_method("test_a_fiber_killed_in_#{place}_on_#{backend}") { serve(backend) { |server| ask(server, place) } }
    end
  end

  def test_ensure_clauses_run
    serve(BACKENDS.first) do |server|
      RawClient.get(server.port, "/ensures")
      assert_equal "true", RawClient.get(server.port, "/ensured").body
    end
  end

  private

  def serve(backend)
    ServerProcess.open("--mode", "fibers:3", "--backend", backend, "--drain-timeout", "3", app: "fiber_kill.ru") do |server|
      4.times { yield server } # once more than there are fibers
      answers = Array.new(6) { Thread.new { RawClient.get(server.port, "/sleeps").body } }.map(&:value)
      assert_equal ["slept"] * 6, answers
      assert_predicate server.stop, :success?
      refute_match(/Ignored|TypeError/, server.lines.join)
    end
  end

  # The answer may be whole, cut, or none.
  def ask(server, place)
    RawClient.get(server.port, "/#{place}")
  rescue EOFError, Errno::ECONNRESET
    nil
  end
end
