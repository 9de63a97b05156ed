# frozen_string_literal: true

# Follows the log for one client. Each event's id is the place after its line: the browser names the last that it has had
# when it comes back, and the file knows the rest.
class FollowerHandler
  PENDING_MAX = 64 * 1024 # bytes: whoever reads slowly is sent more when that is through
  RETRY = 1000 # milliseconds

  # @param place [Integer, nil] that has been read up to
  def initialize(log, place)
    @log = log
    @place = place&.clamp(0, log.bytes) || log.recent
  end

  def on_open(client)
    client.subscribe("log") { send_more(client) }
    client.subscribe("cut") { client.close }
    client.event(Process.pid.to_s, event: "worker", id: @place.to_s, retry: RETRY)
    send_more(client)
  end

  def on_drained(client)
    send_more(client)
  end

  private

  def send_more(client)
    while client.open? && client.pending < PENDING_MAX && (lines = @log.lines_after(@place)).any?
      lines.each { |line, place| client.event(line, id: (@place = place).to_s) }
    end
  end
end
