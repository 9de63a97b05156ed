# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/publish_subscribe_checks"
require_relative "../support/opal_runtimes"

# Publish and subscribe, by clients and by the process, on each JavaScript runtime: the application is the one of the tests on MRI.
class OpalPublishSubscribeTest < Minitest::Test
  include PublishSubscribeChecks
  include OpalRuntimes

  WAIT_MAX = 60 # seconds
  CHECKS = %i[too_many_patterns channels forms patterns blocks unsubscribing errors listeners].freeze

  OpalProcess::RUNTIMES.each_key do |command|
    define_method(:"test_all_of_it_on_#{command}") do
      need(command)
      OpalProcess.open(command, "--drain-timeout", "30", app: "publish_subscribe.ru") do |server|
        CHECKS.each { |name| send(:"check_#{name}", server) }
        assert_predicate server.stop, :success?, server.lines.join
      end
    end
  end

  OpalProcess::RUNTIMES.each_key do |command|
    define_method(:"test_who_does_not_read_misses_what_is_published_on_#{command}") do
      need(command)
      OpalProcess.open(command, "--client-bytes-max", "10000", "--drain-timeout", "30", app: "publish_across_workers.ru") do |server|
        WebSocketClient.open(server.port, "/?loud") { |client| check_missing(server, client) }
      end
    end
  end

  private

  def check_missing(server, client)
    text = "x" * 8000
    Timeout.timeout(WAIT_MAX) { get(server, "/publish?loud=#{text}") until get(server, "/stats").match?(/ dropped=[1-9]/) }
    heard = get(server, "/stats")[/ delivered=(\d+)/, 1].to_i
    assert_equal ["open #{server.pid}", *[text] * heard], Array.new(heard + 1) { client.receive }
    get(server, "/publish?loud=again")
    assert_equal "again", client.receive
  end

  # Who subscribes has done so when it is told.
  def await_patterns(_server, _number); end
end
