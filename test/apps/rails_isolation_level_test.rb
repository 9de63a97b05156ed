# frozen_string_literal: true

require "minitest/autorun"
require_relative "support/application"
require_relative "support/concurrent_clients"
require_relative "../support/elapsed_time"
require_relative "../support/tls_client"

# Every way of booting Rails: mode fibers isolates its requests by fiber, or does not start.
class RailsIsolationLevelTest < Minitest::Test
  include ElapsedTime

  APP = Application.rails(code: "rails", prepare: %w[bin/rails db:schema:load])
  UPWELL = %w[upwell -b 127.0.0.1 -p 0].freeze
  RAILS = %w[bin/rails server -b 127.0.0.1 -p 0].freeze
  PROGRAM = <<~'PROGRAM'
    require "bundler/setup"
    require "upwell"
    require "./config/environment"
    server = Upwell::Server.new(Rails.application, Upwell::Configuration.new({ bind: "127.0.0.1", port: 0 }))
    $stdout.sync = true
    puts "serves on #{server.urls.first}"
    trap("TERM") { server.drain }
    server.run
  PROGRAM
  WAYS = { "command" => UPWELL, "workers" => [*UPWELL, "-w", "2"], "preload" => [*UPWELL, "-w", "2", "--preload"],
           "rails" => [*RAILS, "-u", "upwell"], "rails_without_a_name" => RAILS,
           "rackup" => %w[rackup -s upwell -o 127.0.0.1 -p 0], "program" => ["ruby", "-e", PROGRAM] }.freeze
  LEVEL = "Rails' isolation level is set to :fiber"
  LIMIT = "at most 5 requests run at once"

  def setup
    skip "APPS chooses others" unless ENV.fetch("APPS", APP.name).split(",").include?(APP.name)
  end

  WAYS.each do |way, command|
    define_method("test_#{way}_isolates_by_fiber") do
      serve(*command) do |server|
        ConcurrentClients.run(server.port, 0.5) { |client, marker| assert_equal marker, client.get("/marker?m=#{marker}") }
        assert_predicate server.stop, :success?
        assert_match(/#{LEVEL}.*#{LIMIT}/, server.lines.join)
      end
    end

    next if way == "program" # it required Upwell before Rails was there, and so the application's choice was not noticed

    define_method("test_#{way}_does_not_start_where_the_application_insists_on_threads") do
      error = assert_raises(RuntimeError) { serve(*command, environment: { "ISOLATION" => "thread" }) { flunk } }
      assert_match(/the application sets config.active_support.isolation_level = :thread/, error.message)
      assert_match(/; remove the setting for mode fibers, or choose --mode threads:N$/, error.message)
      refute_match(/^\s+from /, error.message)
    end
  end

  def test_rails_serves_by_tls
    issued = Certificates.localhost
    serve("bin/rails", "server", "-u", "upwell", "-b", "ssl://127.0.0.1:0?cert=#{issued.path}&key=#{issued.key_path}") do |server|
      assert_equal 200, TLSClient.get(server.port, "/locale?locale=de").status
      assert_predicate server.stop, :success?
    end
  end

  def test_each_request_has_its_locale
    serve(*UPWELL) do |server|
      ConcurrentClients.run(server.port, 0.5) do |client, _marker|
        locale = %w[en de fr].sample
        assert_equal locale, client.get("/locale?locale=#{locale}")
      end
    end
  end

  def test_threads_leave_the_level_alone
    ["thread", "fiber", nil].each do |level|
      serve(*UPWELL, "--mode", "threads:5", environment: { "ISOLATION" => level }) do |server|
        assert_equal level || "thread", ask(server, "/level")
        assert_predicate server.stop, :success?
        refute_match(/#{LEVEL}|#{LIMIT}/, server.lines.join)
      end
    end
  end

  def test_as_many_fibers_as_the_pool_has_connections
    serve(*UPWELL) { |server| assert_operator seconds { hold(server, 7, 0.3) }, :>=, 0.6 }
  end

  def test_as_many_fibers_as_the_mode_says
    serve(*UPWELL, "--mode", "fibers:8") do |server|
      holders = Thread.new { hold(server, 7, 1) }
      Timeout.timeout(ConcurrentClients::READ_MAX) { nil until ask(server, "/held") == "7" }
      holders.join
      refute_match LIMIT, server.lines.join
    end
  end

  # In development, while others ask: each answer is of one version, and soon of the newest.
  def test_reloading
    %w[fibers threads:5].each do |mode|
      serve(*UPWELL, "--mode", mode, environment: { "RAILS_ENV" => "development" }) do |server|
        crowd = Thread.new do
          ConcurrentClients.run(server.port, 3) { |client, marker| assert_match(/\A\d+ #{marker}\z/, client.get("/reloaded?m=#{marker}")) }
        end
        (1..5).each { |version| change(server, version) }
        crowd.value
      end
    end
  end

  private

  def serve(*command, environment: {}, &block)
    APP.open { APP.serve(*command, environment: environment, &block) }
  end

  def ask(server, path)
    ConcurrentClients::Client.open(server.port) { |client| client.get(path) }
  end

  def hold(server, count, seconds)
    Array.new(count) { |i| Thread.new { ask(server, "/hold?m=h#{i}&seconds=#{seconds}") } }.each(&:join)
  end

  def change(server, version)
    path = File.join(APP.folder, "app/controllers/reloaded_controller.rb")
    File.write(path, File.read(path).sub(/VERSION = \d+/, "VERSION = #{version}"))
    File.utime(Time.now + version, Time.now + version, path) # a change within the same second is one, too
    Timeout.timeout(ConcurrentClients::READ_MAX) { nil until ask(server, "/reloaded?m=x") == "#{version} x" }
  end
end
