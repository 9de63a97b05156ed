# frozen_string_literal: true

require_relative "../test_helper"

# The server's own log and the access log as JSON.
class LogFormatTest < Minitest::Test
  TIME = /\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\z/

  # @return [Array<Hash>] all that the server has printed
  def records(server)
    server.lines.join.lines.map { |line| JSON.parse(line) }
  end

  def raise_and_refuse(server)
    RawClient.request(server.port, "GET /raises HTTP/1.1\r\nHost: a\r\nX-Request-ID: mine\r\n\r\n")
    server.await(/Error during/)
    RawClient.request(server.port, "GET /\"\xff HTTP/1.1\r\nHost : a\r\n\r\n".b)
    server.await(/refused/)
  end

  # One stream, and each line has a time.
  def test_each_line_is_an_object_of_json
    Dir.mktmpdir do |dir|
      each_backend_and_mode do |backend, mode|
        options = ["--backend", backend, "--mode", mode, "-w", "1", "--access-log", "--log-format", "json"]
        ServerProcess.open(*options, app: "access_log.ru", environment: { "FOLDER" => "#{dir}/served" }) do |server|
          raise_and_refuse(server)
          Process.kill("USR2", server.workers.first)
          server.await(/SIGUSR2 is ignored/)
          assert_predicate server.stop, :success?
          told = records(server)
          told.each { |record| assert_match TIME, record["time"] }
          assert_equal %w[mine mine], told.filter_map { |record| record["request_id"] }
          assert_equal [500, 400], told.filter_map { |record| record["status"] }
        end
      end
    end
  end

  def test_files
    Dir.mktmpdir do |dir|
      ServerProcess.open("--access-log", "--log-format", "json", app: dir, command: ["static"]) do |server|
        RawClient.get(server.port, "/nothing")
        assert_predicate server.stop, :success?
        records(server).each { |record| assert_match TIME, record["time"] }
      end
    end
  end

  def test_an_error_at_the_start
    output, status = Open3.capture2e(*ServerProcess.spawn_arguments("static", "--log-format", "json", "-b", "192.0.2.1", __dir__))
    assert_equal 1, status.exitstatus
    assert_match(/192\.0\.2\.1/, output.lines.map { |line| JSON.parse(line) }.last.fetch("message"))
  end

  # While a C extension keeps Ruby's lock.
  def test_an_exit_without_ruby
    Dir.mktmpdir do |dir|
      app = "#{dir}/config.ru"
      File.write(app, "at_exit { sleep }\nrun ->(_env) { [200, {}, []] }\n")
      ServerProcess.open("--log-format", "json", "--drain-timeout", "0.1", app: app) do |server|
        server.signal("TERM")
        server.await(/exit forced/)
        server.await_end
        assert_equal "exit forced: an at_exit block or a thread of the application does not end in time", records(server).last["message"]
      end
    end
  end
end
