# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/static_file_tests"
require_relative "../support/with_interpreter_lock_held"

# `upwell --public DIR`: files are sent before the application is asked, on every backend and in every mode.
module PublicFilesTests
  include StaticFileTests
  include WithInterpreterLockHeld

  def assert_asks_the_application(target, method: "GET")
    response = get(target, "Content-Length: 0", method: method)
    assert_equal [200, "yes"], [response.status, field(response, "x-app")], "#{method} #{target}"
    response
  end

  def test_what_is_no_file_is_the_applications
    assert_equal "GET /nowhere", assert_asks_the_application("/nowhere").body
    %w[/list/ /list /sub /a.txt/ /.secret /fifo /leads_out.txt /%2e%2e/outside.txt /sub/../../outside.txt /..%2foutside.txt].each do |target|
      refute_includes assert_asks_the_application(target).body, "secret content"
    end
    assert_asks_the_application("/nowhere", method: "HEAD")
  end

  def test_other_methods_are_the_applications
    %w[POST PUT DELETE PATCH OPTIONS].each do |method|
      assert_equal "#{method} /a.txt", assert_asks_the_application("/a.txt", method: method).body
    end
  end

  def test_a_file_that_comes_and_goes
    assert_asks_the_application("/comes.txt")
    folder.write("comes.txt", "here")
    await { get("/comes.txt").body == "here" }
    File.unlink(File.join(folder.path, "comes.txt"))
    await { field(get("/comes.txt"), "x-app") }
  end

  def test_files_and_answers_of_the_application_come_in_order
    targets = %w[/a.txt /app /large.bin /app /nowhere /sub/ /app.js] * 5
    RawClient.open(server.port) do |client|
      client.write(targets.map { |target| "GET #{target} HTTP/1.1\r\nHost: test\r\n\r\n" }.join)
      bodies = targets.map { client.response.body.bytesize }
      assert_equal [10, 8, StaticFilesFixture::LARGE_BYTES, 8, 12, 3, 5] * 5, bodies
    end
  end

  # While one thread has the interpreter's lock, no request gets as far as the application.
  def test_files_are_sent_without_the_lock
    get("/a.txt")
    RawClient.open(server.port) do |client|
      while_locked do
        10.times { assert_equal "0123456789", get("/a.txt").body }
        client.write("GET /app HTTP/1.1\r\nHost: test\r\n\r\n")
        refute client.socket.wait_readable(0.05)
      end
      assert_equal "GET /app", client.response.body
    end
  end
end

BACKENDS.product(MODES).each do |backend_name, mode_name|
  Object.const_set("PublicFiles#{backend_name.capitalize}#{mode_name.capitalize.delete(":")}Test", Class.new(Minitest::Test) do
    include PublicFilesTests

    started = {}
    Minitest.after_run do
      started[:server]&.kill
      started[:folder]&.remove
    end
    define_method(:folder) { started[:folder] ||= StaticFilesFixture.new }
    define_method(:server) do
      ENV["LOCK"] = folder.lock
      options = ["--backend", backend_name, "--mode", mode_name, "--public", folder.path, *ServerProcess::PATIENT]
      started[:server] ||= ServerProcess.new(*options, app: "public_files.ru")
    end
  end)
end

# Its options, and how it goes with workers.
class PublicFilesCommandTest < Minitest::Test
  def test_cache_control_and_workers
    folder = StaticFilesFixture.new
    options = ["--public", folder.path, "--public-cache-control", "max-age=60", "--header", "X-Content-Type-Options: nosniff"]
    ServerProcess.open("-w", "1", *options, app: "public_files.ru") do |server|
      names = %w[cache-control x-content-type-options]
      assert_equal [["max-age=60"], ["nosniff"]], RawClient.get(server.port, "/a.txt").headers.values_at(*names)
      assert_equal [nil, nil], RawClient.get(server.port, "/app").headers.values_at(*names)
      assert_predicate server.stop, :success?
    end
  ensure
    folder&.remove
  end

  def test_a_folder_that_is_not_there
    output, status = Open3.capture2e(*ServerProcess.spawn_arguments("--public", "/nowhere", File.join(ServerProcess::APPS, "public_files.ru")))
    refute_predicate status, :success?
    assert_match(/option public: must be an existing directory, got "\/nowhere"/, output)
  end
end
