# frozen_string_literal: true

require "minitest/autorun"
require "rbconfig"
require_relative "../../bench/lib/server"
require_relative "../support/bundle_gem_paths"

class BenchServerTest < Minitest::Test
  GemInstallation = Struct.new(:environment)

  def test_a_server_that_ends_is_told_with_its_last_words
    command = [RbConfig.ruby, "-e", 'warn "starting", "config.ru:3: [BUG] Segmentation fault at 0x0"; abort "end"']
    error = assert_raises(Bench::Server::Error) { start(command) }
    assert_equal "does not start: config.ru:3: [BUG] Segmentation fault at 0x0", error.message
  end

  # It answers twice: to the question whether it is up, and so that it can be asked.
  def test_a_server_that_breaks_off_is_told
    command = ->(port) { [RbConfig.ruby, "-rsocket", "-e", BREAKS_OFF, port.to_s] }
    Bench::Server.open(command, installation: GemInstallation.new(BundleGemPaths.environment_without_rubygems)) do |server|
      assert_equal "200", server.request.code
      error = assert_raises(Bench::Server::NoAnswer) { server.request }
      assert_match(/\Adoes not answer: ./, error.message)
    end
  end

  BREAKS_OFF = <<~RUBY
    listener = TCPServer.new("127.0.0.1", Integer(ARGV.first))
    ok = "HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\n"
    [ok, ok, "no HTTP\\r\\n\\r\\n"].each do |answer|
      socket = listener.accept
      socket.readpartial(4096)
      socket.write(answer)
      socket.close
    end
  RUBY

  private

  def start(command)
    Bench::Server.open(->(_port) { command }, installation: GemInstallation.new(BundleGemPaths.environment_without_rubygems), app: __FILE__) { flunk "it answers" }
  end
end
