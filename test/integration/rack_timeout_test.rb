# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/gem_bundle"

# The gem rack-timeout raises into the thread of a request that is late.
class RackTimeoutTest < Minitest::Test
  LATE = %w[sleeps pops sleeps pops sleeps].freeze
  LATE_FOREVER = %w[sleeps pops computes enumerates].freeze
  AT_ONCE = 20
  TRIES = 5 # of what a machine that stands still makes late

  MODES.each do |mode|
    BACKENDS.each do |backend|
      define_method("test_who_is_late_in_#{mode.tr(":", "_")}_on_#{backend}") { assert_who_is_late(mode, backend) }
    end
  end

  private

  def assert_who_is_late(mode, backend)
    @late = 0
    late = mode == "inline" ? LATE.first(2) : LATE # where one waits for another
    ServerProcess.open("--mode", mode, "--backend", backend, app: "../apps/rack_timeout/config.ru",
                                                             environment: GemBundle.environment("rack_timeout")) do |server|
      assert_answers(server, (late + (["quick"] * (AT_ONCE - late.size))).shuffle)
      %w[computes enumerates].each { |name| assert_answers(server, [name]) } # the first, and on Ruby 3.1 both, would make others late in fibers
      assert_answers(server, ["quick"] * AT_ONCE)
      assert_answers(server, ["meets"] * 3) unless mode == "inline"
      assert_predicate server.stop, :success?
      assert_equal @late, server.lines.join.scan("Rack::Timeout::RequestTimeoutError").size, server.lines.join
    end
  end

  def assert_answers(server, names)
    TRIES.times.any? { punctual?(server, names) } || flunk("the machine stood still #{TRIES} times")
  end

  # @return [Boolean] whether only those were late that should be; others had to be kept for long
  def punctual?(server, names)
    clients = names.map { |name| ask(server, name) }
    others = names.zip(clients).reject { |name, client| as_expected?(name, client.object_id, client.response) }
    long = others.empty? ? [] : RawClient.get(server.port, "/long").body.split
    others.each { |name, client| assert_includes long, client.object_id.to_s, "#{name}\n#{server.lines.join}" }
    others.empty?
  ensure
    clients&.each(&:close)
  end

  def as_expected?(name, query, response)
    @late += 1 if response&.status == 500
    expected = LATE_FOREVER.include?(name) ? [500, "500 Internal Server Error\n"] : [200, "#{name} #{query}"]
    answer = [response&.status, response&.body]
    assert_equal expected, answer unless expected.first == 200 && answer.first == 500
    answer == expected
  end

  def ask(server, name)
    RawClient.new(server.port).tap { |client| client.write("GET /#{name}?#{client.object_id} HTTP/1.1\r\nHost: test\r\n\r\n") }
  end
end
