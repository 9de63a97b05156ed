# frozen_string_literal: true

require "minitest/autorun"
require "rbconfig"
require_relative "../../bench/lib/server"

class BenchServerTest < Minitest::Test
  Installation = Struct.new(:environment)

  def test_a_server_that_ends_is_told_with_its_last_words
    command = [RbConfig.ruby, "-e", 'warn "starting", "config.ru:3: [BUG] Segmentation fault at 0x0"; abort "end"']
    error = assert_raises(Bench::Server::Error) { start(command) }
    assert_equal "does not start: config.ru:3: [BUG] Segmentation fault at 0x0", error.message
  end

  private

  def start(command)
    Bench::Server.open(->(_port) { command }, installation: Installation.new({}), app: __FILE__) { flunk "it answers" }
  end
end
