# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/prompt_client"

# What the server refuses by itself never reaches the application, whose log so does not tell of it: the server's does.
class RefusalsTest < Minitest::Test
  ACCESS_LINE = /\A127\.0\.0\.1 - - \[.*?\] "(.*?)(?: HTTP\/1\.1)?" (\d{3}) \d+ "-" "-"$/
  LINE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ upwell\[(\d+)\]: refused 127\.0\.0\.1 "(.*)" (\d{3}) (.*)$/
  LENGTH = "POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: "
  REFUSED = {
    "GET /bad HTTP/1.1\r\nHost : a\r\n\r\n" => ["GET /bad", "400", "Bad Request"],
    "GET /late HTTP/1.1\r\nHo" => ["GET /late", "408", "Request Timeout"],
    "#{LENGTH}5\r\n\r\nabc" => ["POST /upload", "408", "Request Timeout"],
    "#{LENGTH}5000\r\n\r\n" => ["POST /upload", "413", "Content Too Large"],
    "GET /x HTTP/1.1\r\nHost: a\r\nX: #{"x" * 3000}\r\n\r\n" => ["GET /x", "431", "Request Header Fields Too Large"],
    "GET /new HTTP/2.0\r\n\r\n" => ["GET /new", "505", "HTTP Version Not Supported"],
    "\x16\x03\x01\r\n\r\n" => ['\x16\x03\x01', "400", "Bad Request"]
  }.freeze
  TIMEOUT = 0.3
  LIMITS = %W[--head-timeout #{TIMEOUT} --body-timeout #{TIMEOUT} --body-bytes-max 1000 --head-bytes-max 2000].freeze
  MANY = 100
  LINES_PER_SECOND = 10

  def each_server
    BACKENDS.product(MODES) do |backend, mode|
      ServerProcess.open("--backend", backend, "--mode", mode, *LIMITS) { |server| yield server }
    end
  end

  def refuse(server, text)
    PromptClient.request(server.port, text, TIMEOUT).status
  end

  def test_the_log_tells_who_was_refused_what_and_why
    each_server do |server|
      REFUSED.each do |text, expected|
        assert_equal expected[1], refuse(server, text).to_s
        assert_equal [server.pid.to_s, *expected], server.await(LINE).captures
      end
    end
  end

  def test_an_attacker_does_not_fill_the_disk
    each_server do |server|
      MANY.times { refuse(server, "x\r\n\r\n") }
      told = left_out = 0
      (count = left_out_in(server)) ? left_out += count : told += 1 while told + left_out < MANY
      assert_operator told, :<, MANY
      assert_equal MANY, left_out + told
    end
  end

  # @return [Integer, nil] nil when the next line tells of one that was refused
  def left_out_in(server)
    server.await(/: refused (\d+) more requests$|#{LINE}/)[1]&.to_i
  end

  def test_the_access_log_of_files_tells_it_too
    Dir.mktmpdir do |dir|
      log = File.join(dir, "log")
      refused = REFUSED.reject { |_, (_, status)| status == "413" } # what `upwell static` is sent is bounded already
      ServerProcess.open("--access-log", log, *LIMITS - %w[--body-bytes-max 1000], app: dir, command: ["static"]) do |server|
        refused.each_key { |text| refuse(server, text) }
        server.stop
        lines = File.readlines(log).map { |line| line.match(ACCESS_LINE)&.captures }
        assert_equal(refused.values.map { |line, status| [line, status] }, lines)
      end
    end
  end
end
