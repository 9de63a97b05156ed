# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/gem_bundle"

# The gem rack-timeout raises into the thread of a request that is late.
class RackTimeoutTest < Minitest::Test
  LATE = %w[sleeps pops sleeps pops sleeps].freeze
  AT_ONCE = 20

  MODES.each do |mode|
    BACKENDS.each do |backend|
      define_method("test_who_is_late_in_#{mode.tr(":", "_")}_on_#{backend}") { assert_who_is_late(mode, backend) }
    end
  end

  private

  def assert_who_is_late(mode, backend)
    late = mode == "inline" ? LATE.first(2) : LATE # where one waits for another
    ServerProcess.open("--mode", mode, "--backend", backend, app: "../apps/rack_timeout/config.ru",
                                                             environment: GemBundle.environment("rack_timeout")) do |server|
      assert_answers(server, (late + (["quick"] * (AT_ONCE - late.size))).shuffle)
      %w[computes enumerates].each { |name| assert_answers(server, [name]) } # the first, and on Ruby 3.1 both, would make others late in fibers
      assert_answers(server, ["quick"] * AT_ONCE)
      assert_answers(server, ["meets"] * 3) unless mode == "inline"
      assert_predicate server.stop, :success?
      assert_equal late.size + 2, server.lines.join.scan("Rack::Timeout::RequestTimeoutError").size, server.lines.join
    end
  end

  def assert_answers(server, names)
    clients = names.map { |name| ask(server, name) }
    names.zip(clients) do |name, client|
      response = client.response
      expected = %w[quick meets].include?(name) ? [200, "#{name} #{client.object_id}"] : [500, "500 Internal Server Error\n"]
      assert_equal expected, [response&.status, response&.body], server.lines.join
    end
  ensure
    clients&.each(&:close)
  end

  def ask(server, name)
    RawClient.new(server.port).tap { |client| client.write("GET /#{name}?#{client.object_id} HTTP/1.1\r\nHost: test\r\n\r\n") }
  end
end
