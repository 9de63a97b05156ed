# frozen_string_literal: true

require_relative "../test_helper"

# An upload beyond the size that files may have costs its client the answer, and not everybody the server.
class FileSizeLimitTest < Minitest::Test
  UPLOAD = ("u" * 2_000_000).freeze
  LIMITED = { "RUBYOPT" => "-r#{ServerProcess::APPS}/limit_file_size" }.freeze
  XFSZ = 1 << (Signal.list.fetch("XFSZ") - 1) # see proc(5)

  def each_server(modes: MODES, **environment)
    each_backend_and_mode(modes) do |backend, mode|
      options = { app: "file_size_limit.ru", environment: LIMITED.merge(environment) }
      ServerProcess.open("--backend", backend, "--mode", mode, **options) { |server| yield server }
    end
  end

  def get(server, path)
    RawClient.get(server.port, path).body
  end

  def upload(server)
    RawClient.open(server.port) do |client|
      client.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: #{UPLOAD.bytesize}\r\n\r\n#{UPLOAD}")
      client.response.status
    end
  end

  def test_the_server_goes_on
    each_server do |server|
      assert_equal 503, upload(server)
      assert_equal "0", get(server, "/")
      assert_predicate server.stop, :success?
    end
  end

  def test_programs_that_the_application_starts_have_the_default_action
    each_server(modes: %w[fibers]) do |server|
      masks = get(server, "/spawned").scan(/[0-9a-f]{16}/).map(&:hex)
      assert_equal [0, 0], masks.map { |mask| mask & XFSZ }
    end
  end

  def test_an_application_that_traps_the_signal_gets_it
    each_server(modes: %w[fibers inline], "TRAPS" => "1") do |server|
      assert_equal 503, upload(server)
      assert_equal "1", get(server, "/")
    end
  end
end
