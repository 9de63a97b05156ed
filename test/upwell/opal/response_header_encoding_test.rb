# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/opal_process"
require_relative "../../support/opal_runtimes"
require_relative "../../support/raw_client"

# What cannot be sent in the head of a response: cut to a byte, a character beyond could be a CR.
class OpalResponseHeaderEncodingTest < Minitest::Test
  include OpalRuntimes

  APP = File.expand_path("response_header_encoding.ru", __dir__)

  OpalProcess::RUNTIMES.each_key do |command|
    define_method(:"test_characters_in_bytes_are_not_sent_by_#{command}") do
      need(command)
      OpalProcess.open(command, app: APP) { |server| check(server) }
    end
  end

  private

  def check(server)
    { "/sound" => "/a?b=\xC4\x8D\xC4\x8A", "/joined" => "/a?b=\xE9\xC4\x8D\xC4\x8A" }.each do |path, value|
      assert_equal [value.b], RawClient.get(server.port, path).headers["x-to"].map(&:b)
    end
    %w[/characters /mixed].each do |path|
      response = RawClient.get(server.port, path)
      assert_equal 500, response.status, path
      refute_includes response.headers, "set-cookie"
    end
    server.await(/the server rejects response header x-to: the value has a byte encoding, but contains characters above 255/)
  end
end
