# frozen_string_literal: true

require_relative "raw_client"

# A client that its machine holds up between connecting and writing may be closed without a word, which tells nothing of the server: it comes
# again.
module RetryingClient
  TRIES = 20

  # @param text [String] what it writes
  # @param limit [Float] seconds that the server gives it
  # @return [RawClient] that has written in time
  def self.open(port, text, limit)
    TRIES.times do
      client, late = visit(port, text, limit)
      return client unless late

      client.close
    end
    raise "the client was late #{TRIES} times"
  end

  # @return [RawClient::Response, nil] also to one that was late, where it is answered
  def self.request(port, text, limit)
    TRIES.times do
      client, late = visit(port, text, limit)
      response = response(client)
      return response if response || !late
    ensure
      client&.close
    end
    raise "the client was late #{TRIES} times"
  end

  def self.visit(port, text, limit)
    began = now
    client = RawClient.new(port)
    client.write(text)
    [client, now - began > limit / 2]
  end
  private_class_method :visit

  def self.response(client)
    client.response
  rescue Errno::ECONNRESET
    nil
  end
  private_class_method :response

  def self.now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
  private_class_method :now
end
