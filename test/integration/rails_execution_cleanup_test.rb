# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/gem_bundle"

# What Active Support has begun for a request, and nobody has ended, in mode fibers.
class RailsExecutionCleanupTest < Minitest::Test
  def test_each_is_ended_whatever_others_raise
    serve({ "EXECUTOR" => "1" }) do |server|
      assert_equal "lost", RawClient.get(server.port, "/lose").body
      assert_equal "last first", RawClient.get(server.port, "/ended").body
      server.await(/last on purpose/)
      server.await(/first on purpose/)
    end
  end

  def test_nothing_is_done_where_there_are_none
    serve({}) { |server| assert_equal "0", RawClient.get(server.port, "/callables").body }
  end

  private

  def serve(settings, &block)
    ServerProcess.open("--mode", "fibers", app: "../apps/active_support/config.ru",
                                           environment: { **GemBundle.environment("active_support"), **settings }, &block)
  end
end
