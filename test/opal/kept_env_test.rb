# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/opal_runtimes"
require_relative "../support/tls_client"

# An env that an application keeps, and looks at for the first time when its request, and its client, are gone.
class OpalKeptEnvTest < Minitest::Test
  include OpalRuntimes

  APP = File.expand_path("support/kept_envs.ru", __dir__)
  KEPT = 3
  EXPECTED = Array.new(KEPT) { |i| "GET /#{i}?a who#{i} 127.0.0.1 h#{i}" }.freeze

  OpalProcess::RUNTIMES.each_key do |command|
    define_method("test_#{command}_by_http") do
      serve(command) { |server| assert_equal EXPECTED, kept { |text| RawClient.open(server.port) { |client| ask(client, text) } } }
    end

    define_method("test_#{command}_by_tls") do
      serve(command, *Certificates.options) do |server|
        lines = kept { |text| TLSClient.open(server.port) { |client| ask(client, text) } }
        assert_equal(EXPECTED, lines.map { |line| line[/\A(?:\S+ ){4}\S+/] })
        assert_equal(["on"] * KEPT, lines.map { |line| line.split.last })
        assert_match(/ TLSv1\S+ \S+ on\z/, lines.first) if command == "up_node"
      end
    end
  end

  private

  def serve(command, *options, &block)
    need(command)
    OpalProcess.open(command, *options, app: APP, environment: { "KEPT" => (KEPT + 1).to_s }, &block)
  end

  # @return [Array<String>] what is told at last of those before
  def kept
    texts = Array.new(KEPT + 1) { |i| "GET /#{i}?a HTTP/1.1\r\nHost: h#{i}\r\nX-Who: who#{i}\r\nConnection: close\r\n\r\n" }
    texts.map { |text| yield text }.last.lines.map { |line| line.strip.squeeze(" ") }
  end

  def ask(client, text)
    client.write(text)
    client.response.body.tap { assert_predicate client, :closed? }
  end
end
