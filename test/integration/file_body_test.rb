# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/download_tests"
require_relative "../support/with_interpreter_lock_held"

# Bodies that answer to `to_path`, as those of Rack::Files do, on every backend and in every mode.
module FileBodyTests
  include DownloadTests
  include WithInterpreterLockHeld

  NEXT = "GET /own HTTP/1.1\r\nHost: test\r\n\r\n"
  HELD_BYTES = 60_000_000 # more than the sockets' buffers take

  # @return [String] all that comes to a request and to one that follows it
  def with_next(target)
    RawClient.open(server.port) do |client|
      client.write(request(target) + NEXT)
      client.socket.close_write
      client.read_all
    end
  end

  def test_a_file
    response = get("/large.bin")
    assert_equal [200, [StaticFilesFixture::LARGE_BYTES.to_s]], [response.status, response.headers["content-length"]]
    assert_equal Random.new(1).bytes(StaticFilesFixture::LARGE_BYTES), response.body.b
    response = get("/a.txt", method: "HEAD")
    assert_equal [200, ["10"]], [response.status, response.headers["content-length"]]
  end

  # The application gave no length.
  def test_head_tells_the_length_of_the_file
    response = get("/own", method: "HEAD")
    assert_equal [203, ["10"]], [response.status, response.headers["content-length"]]
  end

  def test_a_range_and_a_condition_are_the_applications
    response = get("/a.txt", "Range: bytes=2-5")
    assert_equal [206, "2345", ["bytes 2-5/10"]], [response.status, response.body, response.headers["content-range"]]
    assert_equal 416, get("/a.txt", "Range: bytes=20-").status
    modified = get("/a.txt").headers["last-modified"].first
    assert_equal 304, get("/a.txt", "If-Modified-Since: #{modified}").status
  end

  def test_status_and_headers_are_the_applications
    response = get("/own")
    assert_equal [203, ["yes"], ["own/type"], "0123456789"],
                 [response.status, *response.headers.values_at("x-own", "content-type"), response.body]
    assert_equal [200, ""], get("/empty").then { |empty| [empty.status, empty.body] }
  end

  def test_a_part_is_what_the_body_gives_and_no_more_than_was_told
    assert_equal [206, "0123"], get("/part_of_file").then { |response| [response.status, response.body] }
    assert_match(/\AHTTP\/1\.1 500 .*\r\n\r\n500 Internal Server Error\nHTTP\/1\.1 203 /m, with_next("/part_too_long"))
  end

  def test_many_files_on_one_connection
    RawClient.open(server.port) do |client|
      targets = %w[/a.txt /own /large.bin /empty /sub/index.html /large.bin] * 4
      client.write(targets.map { |target| request(target) }.join)
      sizes = [10, 10, StaticFilesFixture::LARGE_BYTES, 0, 3, StaticFilesFixture::LARGE_BYTES] * 4
      assert_equal sizes, (targets.map { client.response.body.bytesize })
    end
  end

  def test_a_file_that_is_cut_before_it_is_opened
    assert_match(/\AHTTP\/1\.1 200 .*Content-Length: 1000\r\n\r\na{10}\z/m, with_next("/cut_early")) # and the connection ends
  end

  def test_a_file_that_is_cut_while_it_is_sent_ends_the_connection
    folder.write("cut.bin", "a" * HELD_BYTES)
    RawClient.open(server.port) do |client|
      client.write(request("/cut.bin") + NEXT)
      client.socket.wait_readable(60)
      File.truncate(File.join(folder.path, "cut.bin"), 1000)
      text = client.read_all
      assert_operator text.bytesize, :<, HELD_BYTES
      assert_equal 1, text.scan("HTTP/1.1").size
    end
  end

  def test_a_file_that_is_replaced_while_it_is_sent_arrives_whole
    folder.write("whole.bin", "b" * HELD_BYTES)
    RawClient.open(server.port) do |client|
      client.write(request("/whole.bin"))
      client.socket.wait_readable(60)
      folder.replace("whole.bin", "short")
      assert_equal ["b", HELD_BYTES], client.response.body.then { |body| [body.squeeze, body.bytesize] }
    end
  end

  # The sockets' buffers hold less than the file: the rest is sent while another thread has the interpreter's lock.
  def test_it_is_sent_without_the_lock
    folder.write("held.bin", "c" * HELD_BYTES)
    RawClient.open(server.port) do |client|
      client.write(request("/held.bin"))
      client.socket.wait_readable(60)
      while_locked { assert_equal HELD_BYTES, client.response.body.bytesize }
    end
  end
end

BACKENDS.product(MODES).each do |backend_name, mode_name|
  Object.const_set("FileBody#{backend_name.capitalize}#{mode_name.capitalize.delete(":")}Test", Class.new(Minitest::Test) do
    include FileBodyTests

    started = {}
    Minitest.after_run do
      started[:server]&.kill
      started[:folder]&.remove
    end
    define_method(:folder) { started[:folder] ||= StaticFilesFixture.new }
    define_method(:server) do
      ENV["FOLDER"] = folder.path
      ENV["LOCK"] = folder.lock
      started[:server] ||= ServerProcess.new("--backend", backend_name, "--mode", mode_name, *ServerProcess::PATIENT, app: "file_bodies.ru")
    end
  end)
end
