# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/gem_bundle"

# Libraries that keep by thread what belongs to a request, in mode fibers, where many requests share one.
class ThreadLocalLibrariesTest < Minitest::Test
  def test_each_request_has_its_own_locale
    ServerProcess.open("--mode", "fibers", app: "i18n_thread_locale.ru") do |server|
      { "/set" => %w[de fr], "/frozen" => %w[de fr], "/with" => %w[denil frnil] }.each do |path, answers|
        clients = %w[de fr].map { |locale| Thread.new { RawClient.get(server.port, "#{path}?#{locale}").body } }
        assert_equal answers, clients.map(&:value), path
      end
    end
  end

  def test_each_report_tells_of_its_own_request
    assert_reports_are_apart({})
    assert_reports_are_apart({ "LEVEL" => "fiber" })
  end

  def test_versions_that_cannot_do_otherwise_are_refused
    { "ActiveRecord,7.0.8.7" => /Active Record 7\.0\.8\.7 shares database connections .* install 7\.1 or later; otherwise choose --mode/,
      "Rails,6.1.7.10" => /Rails 6\.1\.7\.10 shares executions .* for mode fibers, install 7\.0 or later/ }.each do |old, pattern|
      assert_refused(pattern, "old_rails.ru", { "OLD" => old })
    end
    assert_refused(/Sequel 5\.31\.0 shares database connections .* for mode fibers, install 5\.32 or later/, *sequel({ "OLD" => "5.31.0" }))
  end

  def test_transactions_of_mongoid
    app = "../apps/mongoid/config.ru"
    assert_refused(/Mongoid 9\.0\.10 shares sessions .* install 9\.1 on Ruby 3\.2 or later/, app, GemBundle.environment("mongoid"))
    return assert_refused(/Mongoid 9\.1.* shares sessions/, app, GemBundle.environment("mongoid_new")) if RUBY_VERSION < "3.2"

    ServerProcess.open("--mode", "fibers", app: app, environment: GemBundle.environment("mongoid_new")) do |server|
      assert_equal 200, RawClient.get(server.port, "/").status
    end
  end

  def test_one_connection_of_sequel_for_all_is_refused
    assert_refused(/single_threaded shares one database connection .* choose --mode inline/, *sequel({ "SINGLE_THREADED" => "1" }))
  end

  def test_as_many_requests_at_once_as_sequel_has_connections
    app, environment = sequel({ "OLD" => "5.32.0" })
    ServerProcess.open("--mode", "fibers", app: app, environment: environment) do |server|
      assert_match(/at most 2 requests run at once, because the database pool has this size/, server.lines.join)
      clients = Array.new(6) { Thread.new { RawClient.get(server.port, "/").status } }
      assert_equal [200], clients.map(&:value).uniq
    end
  end

  def test_the_first_that_can_is_not_refused
    ServerProcess.open("--mode", "threads:2", app: "old_rails.ru", environment: { "OLD" => "Rails,6.1.7.10" }) do |server|
      assert_equal 200, RawClient.get(server.port, "/").status
    end
    ServerProcess.open("--mode", "fibers", app: "old_rails.ru", environment: { "OLD" => "Rails,7.0.8" }) do |server|
      assert_equal 200, RawClient.get(server.port, "/").status
    end
  end

  private

  # What serves, where it should not, is ended.
  def assert_refused(pattern, app, environment)
    reader, writer = IO.pipe
    path = File.join(ServerProcess::APPS, app)
    pid = ProcessGroup.spawn(environment, *ServerProcess.command("-b", "127.0.0.1", "-p", "0", path), out: writer, err: writer)
    writer.close
    text = Timeout.timeout(ServerProcess::START_MAX) { reader.read }
    refute_predicate ProcessGroup.wait(pid), :success?
    assert_match(pattern, text)
    assert_equal 1, text.lines.grep_v(/runs as root/).size, text
  ensure
    ProcessGroup.kill(pid)
  end

  def sequel(settings)
    ["../apps/sequel/config.ru", { **GemBundle.environment("sequel"), **settings }]
  end

  def assert_reports_are_apart(settings)
    ServerProcess.open("--mode", "fibers", app: "../apps/sentry/config.ru",
                                           environment: { **GemBundle.environment("sentry"), **settings }) do |server|
      names = %w[a b c]
      2.times do # the second time by fibers that have served
        clients = names.map { |name| Thread.new { RawClient.get(server.port, "/?#{name}").body } }
        assert_equal names.map { |name| report(name) }, clients.map(&:value)
      end
    end
  end

  def report(name)
    [{}, { id: name }, { loaded: "yes", name: name }, [name]].inspect
  end
end
