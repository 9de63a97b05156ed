# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/gem_bundle"
require "open3"

# The gem async, in the newest version for this Ruby, on our scheduler.
class AsyncGemTest < Minitest::Test
  APP = File.expand_path("../apps/async", __dir__)
  LIB = File.expand_path("../../lib", __dir__)

  def test_programs
    [*BACKENDS.map { |backend| { "UPWELL_BACKEND" => backend } }, { "UPWELL_PURE" => "1", "UPWELL_BACKEND" => nil }].each do |settings|
      output, errors, status = Open3.capture3({ **GemBundle.environment("async"), **settings }, RbConfig.ruby, "-I", LIB, "#{APP}/program.rb")
      assert_predicate status, :success?, "#{settings}: #{errors}"
      assert_equal File.read("#{APP}/program.rb").scan(/def (try_\w+)/).flatten.sort, output.lines(chomp: true), settings
    end
  end

  def test_requests
    BACKENDS.each do |backend|
      ServerProcess.open("--backend", backend, app: "#{APP}/config.ru", environment: GemBundle.environment("async")) do |server|
        assert_answers(server)
        assert_tasks_outlive_requests(server)
        assert_equal "hanging", get(server, "hangs")
        assert_predicate server.stop, :success?
        assert_includes server.lines.join, "ended at last"
      end
    end
  end

  private

  def get(server, path)
    RawClient.get(server.port, "/#{path}?#{server.port}").body
  end

  def assert_answers(server)
    expected = { "tasks" => "012", "asks" => "slept slept slept", "is_late" => "late", "stops" => "stopped", "sleeps" => "slept" }
    2.times do
      answers = expected.keys.map { |path| Thread.new { [path, get(server, path)] } }.to_h(&:value)
      assert_equal expected, answers, server.lines.join
    end
  end

  def assert_tasks_outlive_requests(server)
    assert_equal "left", get(server, "leaves")
    assert_equal "slept", get(server, "sleeps")
    assert_equal "done", get(server, "finds")
    assert_equal "failing", get(server, "fails")
    server.await(/Ignored an exception .*on purpose \(NotImplementedError\)/)
    assert_equal "slept", get(server, "sleeps")
  end
end
