# frozen_string_literal: true

require "tmpdir"
require_relative "../support/process_group"
require_relative "../support/websocket_client"
require_relative "page"

# A Chromium without a screen, driven by its DevTools protocol.
class Chromium
  COMMAND = ENV.fetch("CHROMIUM", "chromium")
  START_MAX = 60 # seconds
  SWITCHES = %w[--headless=new --remote-debugging-port=0 --no-first-run --disable-gpu --disable-dev-shm-usage --mute-audio
                --disable-background-networking --disable-component-update --disable-default-apps --disable-sync
                --disable-background-timer-throttling --disable-renderer-backgrounding --disable-backgrounding-occluded-windows
                --hide-scrollbars].freeze

  def self.there?
    ENV["PATH"].split(":").push("").any? { |folder| File.executable?(File.join(folder, COMMAND)) }
  end

  # Starts one, yields it, and ends it.
  def self.open
    Dir.mktmpdir do |folder|
      browser = new(folder)
      yield browser
    ensure
      browser&.close
    end
  end

  def initialize(folder)
    output, writer = IO.pipe
    switches = Process.uid.zero? ? [*SWITCHES, "--no-sandbox"] : SWITCHES
    @pid = ProcessGroup.spawn({ "HOME" => folder }, COMMAND, *switches, "--user-data-dir=#{folder}", "about:blank", out: writer, err: writer)
    writer.close
    port, path = address(output)
    @reading = Thread.new { nil while output.gets }
    @client = WebSocketClient.new(port, path, headers: { "Host" => "127.0.0.1:#{port}" })
    @number = 0
  end

  # @param size [Array<Integer>] width, height
  # @return [Page] in a window of its own, that shares nothing with the others
  def page(url, size: [1200, 800], dark: false, phone: false)
    context = call("Target.createBrowserContext")["browserContextId"]
    target = call("Target.createTarget", url: "about:blank", browserContextId: context, newWindow: true)["targetId"]
    session = call("Target.attachToTarget", targetId: target, flatten: true)["sessionId"]
    Page.new(self, session, size: size, dark: dark, phone: phone).tap { |page| page.visit(url) }
  end

  # One command of the protocol, and its result.
  #
  # @return [Hash]
  def call(method, session = nil, **parameters)
    number = @number += 1
    @client.send_text(JSON.generate({ id: number, method: method, params: parameters, sessionId: session }.compact))
    loop do
      answer = JSON.parse(@client.receive || raise("the browser has gone"))
      next unless answer["id"] == number
      raise "#{method}: #{answer["error"]}" if answer["error"]

      return answer["result"]
    end
  end

  def close
    @client&.close_socket
    Process.kill("KILL", @pid)
    ProcessGroup.wait(@pid)
    @reading&.join
  end

  private

  def address(output)
    while output.wait_readable(START_MAX) && (line = output.gets)
      found = line.match(%r{DevTools listening on ws://127\.0\.0\.1:(\d+)(/\S+)})
      return found[1].to_i, found[2] if found
    end
    raise "#{COMMAND} does not start"
  end
end
