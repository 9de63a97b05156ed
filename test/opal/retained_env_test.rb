# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/opal_runtimes"
require_relative "../support/tls_client"

# An env that an application keeps, and looks at when its request, and its client, are gone.
class OpalRetainedEnvTest < Minitest::Test
  include OpalRuntimes

  APP = File.expand_path("support/retained_env.ru", __dir__)
  KEPT = 3
  EXPECTED = Array.new(KEPT) { |i| "GET /#{i}?a who#{i} 127.0.0.1 h#{i}" }.freeze
  FORGOTTEN = "IOError: the request has ended, and its env was not read in time; read the needed values of env within call"

  OpalProcess::RUNTIMES.each_key do |command|
    define_method("test_#{command}_by_http") do
      serve(command, "REQUEST_METHOD") do |server|
        assert_equal EXPECTED, kept { |text| RawClient.open(server.port) { |client| ask(client, text) } }
      end
    end

    define_method("test_#{command}_by_tls") do
      serve(command, "REQUEST_METHOD", *Certificates.options) do |server|
        lines = kept { |text| TLSClient.open(server.port) { |client| ask(client, text) } }
        assert_equal(EXPECTED, lines.map { |line| line[/\A(?:\S+ ){4}\S+/] })
        assert_equal(["on"] * KEPT, lines.map { |line| line.split.last })
        assert_match(/ TLSv1\S+ \S+ on\z/, lines.first) if command == "up_node"
      end
    end

    define_method("test_#{command}_that_was_not_looked_at_before") do
      expected = command == "up_node" ? EXPECTED : [FORGOTTEN] * KEPT
      serve(command, "") { |server| assert_equal expected, kept { |text| RawClient.open(server.port) { |client| ask(client, text) } } }
    end

    define_method("test_#{command}_of_a_body_that_is_not_an_array") do
      serve(command, "each") { |server| assert_equal EXPECTED, kept { |text| RawClient.open(server.port) { |client| ask(client, text) } } }
    end
  end

  private

  # @param look [String] at what an application looks in the call; "each": at nothing, but its body is no Array
  def serve(command, look, *options, &block)
    need(command)
    OpalProcess.open(command, *options, app: APP, environment: { "KEPT" => (KEPT + 1).to_s, "LOOK" => look }, &block)
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
