# frozen_string_literal: true

require_relative "../support/raw_client"
require_relative "repeating_client"

# One who stays connected for as long as the server does not announce the end of the connection.
class KeepAliveClient < RepeatingClient
  private

  def ask
    @client ||= RawClient.new(@port)
    @client.write("GET #{@path} HTTP/1.1\r\nHost: a\r\n\r\n")
    response = @client.response
    Await.expect("the connection was closed without an answer", response)
    Await.expect("answered #{response.status}", response.status == 200)
    leave if response.headers["connection"] == ["close"]
  rescue EOFError, Timeout::Error => e
    raise Await::Failure, e.message
  end

  def leave
    @client.close
    @client = nil
  end
end
