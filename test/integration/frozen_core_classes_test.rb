# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/gem_bundle"

# The gem refrigerator freezes the core's classes, once the application was loaded.
class FrozenCoreClassesTest < Minitest::Test
  MODES.each do |mode|
    define_method("test_it_is_served_in_#{mode.tr(":", "_")}") do
      serve("--mode", mode) do |server|
        assert_equal "frozen", RawClient.get(server.port, "/").body
        assert_predicate server.stop, :success?
      end
    end
  end

  def test_workers
    serve("-w", "1", "--mode", "fibers") { |server| assert_equal "frozen", RawClient.get(server.port, "/").body }
  end

  def test_an_io_that_is_closed_while_another_request_reads_from_it
    serve("--mode", "fibers") do |server|
      reader = Thread.new { RawClient.get(server.port, "/read").body }
      assert_equal "closes", RawClient.get(server.port, "/close").body
      assert_equal "closed", reader.value
    end
  end

  private

  def serve(*arguments)
    ServerProcess.open(*arguments, app: "../apps/refrigerator/config.ru", environment: GemBundle.environment("refrigerator")) do |server|
      yield server
    end
  end
end
