# frozen_string_literal: true

require "net/http"
require "rbconfig"

# A hundred HTTP requests at once, each by Net::HTTP on a connection of its own, to a server in another process on another core.
class FanOut
  REQUESTS = 100
  SERVER = File.expand_path("../servers/fan_out_upstream.rb", __dir__)
  SERVER_CORE = 1

  class << self
    # The upstream server's URI; it serves all runs, and ends with the pipe that it reads from.
    def upstream
      @upstream ||= begin
        @server = ::IO.popen(["taskset", "-c", SERVER_CORE.to_s, RbConfig.ruby, SERVER], "r+")
        URI("http://127.0.0.1:#{Integer(@server.gets, 10)}/")
      end
    end
  end

  attr_reader :done

  def initialize
    @uri = self.class.upstream
    @done = 0
  end

  def operations
    REQUESTS
  end

  def start(concurrency)
    REQUESTS.times { concurrency.spawn { @done += 1 if Net::HTTP.get(@uri) == "Hello, world!" } }
  end

  def close; end
end
