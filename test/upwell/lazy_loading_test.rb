# frozen_string_literal: true

require "test_helper"
require "open3"
require "rbconfig"

# What `require "upwell"` loads, and what a server has loaded before it starts.
class LazyLoadingTest < Minitest::Test
  LIBRARY = File.expand_path("../../lib", __dir__)
  TELL = "puts $LOADED_FEATURES.grep(%r{/upwell/(server|configuration|settings|log|exception_log|cli|static)}).sort"
  AWAITED = "puts Upwell.constants.select { |name| Upwell.autoload?(name) }.sort"

  def test_loops_and_schedulers_come_without_the_server
    assert_empty told("require 'upwell'", "Upwell::Loop.new", "Upwell::Selector.new", "Fiber.set_scheduler(Upwell::Scheduler.new)", TELL)
  end

  def test_the_server_is_loaded_when_it_is_named
    refute_empty told("require 'upwell'", "Upwell::Server", TELL)
  end

  def test_what_a_server_may_need_is_loaded_with_it
    assert_equal %w[StaticConfiguration StaticServer], told("require 'upwell'", "Upwell::Server", AWAITED)
    assert_empty told("require 'upwell'", "Upwell::StaticServer", AWAITED)
  end

  def test_a_reactor_without_a_server_can_report_errors_from_the_start
    skip "the extension is not loaded" if defined?(Upwell::LOAD_ERROR)

    settings = "Upwell::Configuration.new({}, environment: {}).reactor_settings"
    waits = told("require 'upwell'", "Upwell::Reactor.new(->(_) {}, #{settings})", AWAITED)

    refute_includes waits, "ExceptionLog"
  end

  private

  def told(*lines)
    output, error, status = Open3.capture3(BundleGemPaths.environment_without_rubygems, RbConfig.ruby, "-I", LIBRARY, "-e", lines.join("\n"))
    assert_predicate status, :success?, error
    output.lines.map(&:chomp)
  end
end
