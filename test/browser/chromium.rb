# frozen_string_literal: true

require "fileutils"
require "io/nonblock"
require "tmpdir"
require_relative "../support/process_group"
require_relative "chromium_page"

# A Chromium without a screen, driven by its DevTools protocol: JSON over two pipes, each message followed by a zero.
class Chromium
  COMMAND = ENV.fetch("CHROMIUM", "chromium")
  ANSWER_MAX = 60 # seconds
  SWITCHES = %w[--headless=new --remote-debugging-pipe --no-first-run --disable-gpu --disable-dev-shm-usage --mute-audio
                --disable-background-networking --disable-component-update --disable-default-apps --disable-sync
                --disable-background-timer-throttling --disable-renderer-backgrounding --disable-backgrounding-occluded-windows
                --hide-scrollbars].freeze

  def self.there?
    ENV["PATH"].split(":").push("").any? { |folder| File.executable?(File.join(folder, COMMAND)) }
  end

  # Starts one, yields it, and ends it.
  def self.open
    folder = Dir.mktmpdir
    browser = new(folder)
    yield browser
  ensure
    browser&.close
    FileUtils.rm_rf(folder) # some of its processes may be ending yet
  end

  def initialize(folder)
    commands, @commands = IO.pipe
    @answers, answers = IO.pipe
    [commands, answers].each { |pipe| pipe.nonblock = false } # it expects to wait
    switches = Process.uid.zero? ? [*SWITCHES, "--no-sandbox"] : SWITCHES
    @pid = ProcessGroup.spawn({ "HOME" => folder }, COMMAND, *switches, "--user-data-dir=#{folder}", "about:blank",
                              3 => commands, 4 => answers, %i[out err] => File::NULL)
    [commands, answers].each(&:close)
    @number = 0
  end

  # @param size [Array<Integer>] width, height
  # @return [ChromiumPage] in a window of its own, that shares nothing with the others
  def page(url, size: [1200, 800], dark: false, phone: false)
    context = call("Target.createBrowserContext")["browserContextId"]
    target = call("Target.createTarget", url: "about:blank", browserContextId: context, newWindow: true)["targetId"]
    session = call("Target.attachToTarget", targetId: target, flatten: true)["sessionId"]
    ChromiumPage.new(self, session, size: size, dark: dark, phone: phone).tap { |page| page.visit(url) }
  end

  # One command of the protocol, and its result.
  #
  # @return [Hash]
  def call(method, session = nil, **parameters)
    number = @number += 1
    @commands.write(JSON.generate({ id: number, method: method, params: parameters, sessionId: session }.compact), "\0")
    loop do
      answer = next_message
      next unless answer["id"] == number
      raise "#{method}: #{answer["error"]}" if answer["error"]

      return answer["result"]
    end
  end

  # And whatever it has forked.
  def close
    [@commands, @answers].each(&:close)
    Process.kill("KILL", @pid)
    ProcessGroup.wait(@pid)
  end

  private

  def next_message
    Timeout.timeout(ANSWER_MAX) { JSON.parse(@answers.gets("\0", chomp: true) || raise("#{COMMAND} has ended")) }
  end
end
