# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/static_file_tests"

# `upwell static`: real files over real sockets, on every backend.
module StaticFileServingTests
  include StaticFileTests

  def test_the_backend_asked_for_is_in_use
    assert_match(/\(#{backend}, static files\)/, server.lines.join)
  end

  def test_options_and_other_methods
    assert_equal [204, "GET, HEAD, OPTIONS"], get("/a.txt", method: "OPTIONS").then { |r| [r.status, field(r, "allow")] }
    %w[POST PUT DELETE PATCH TRACE X].each do |method|
      response = get("/a.txt", "Content-Length: 0", method: method)
      assert_equal [405, "GET, HEAD, OPTIONS"], [response.status, field(response, "allow")], method
    end
  end

  def test_a_folder_without_its_slash_is_redirected
    response = get("/sub?a=b")
    assert_equal 301, response.status
    assert_match(/\/sub\/\?a=b\z/, field(response, "location"))
  end

  def test_a_listing
    page = get("/list/")
    assert_equal [200, "text/html; charset=utf-8"], [page.status, field(page, "content-type")]
    assert_includes page.body, '<a href="b%26c.txt">b&amp;c.txt</a><td>1 B<td>'
    refute_includes get("/.well-known/").body, "secret"
    page.body.scan(/href="([^."][^"]*)"/) { |(name)| assert_equal 200, get("/list/#{name}").status, name }
  end

  def test_a_file_that_is_removed_is_not_there
    folder.write("removed.txt", "")
    assert_equal 200, get("/removed.txt").status
    File.unlink(File.join(folder.path, "removed.txt"))
    await { get("/removed.txt").status == 404 }
  end

  def test_what_is_not_there_has_a_page_of_its_own
    response = get("/nowhere")
    assert_equal [404, "<h1>not here</h1>"], [response.status, response.body]
  end

  def test_what_is_never_served
    ["/.secret", "/fifo", "/leads_out.txt", "/../outside.txt", "/%2e%2e/outside.txt", "/..%2foutside.txt", "/sub/../../outside.txt",
     "/sub/%2e%2e/%2e%2e/outside.txt", "/%2e%2e%2foutside.txt", "/..%5coutside.txt", "/..%c0%afoutside.txt", "//../outside.txt",
     "/.%2e/outside.txt", "/a.txt/../../outside.txt", "/%252e%252e/outside.txt", "/a.txt/", "/sub/.././../outside.txt",
     "/a.txt%00.html", "/%2fetc/passwd", "//etc/passwd", "/proc/self/environ"].each do |target|
      response = get(target)
      assert_includes [400, 403, 404], response.status, target
      refute_includes response.body, "secret", target
    end
  end

  def test_many_requests_on_one_connection
    RawClient.open(server.port) do |client|
      targets = %w[/a.txt / /nowhere /sub/ /large.bin /app.js] * 5
      client.write(targets.map { |target| "GET #{target} HTTP/1.1\r\nHost: test\r\n\r\n" }.join)
      assert_equal [200, 200, 404, 200, 200, 200] * 5, targets.map { client.response.status }
    end
  end
end

BACKENDS.each do |backend_name|
  Object.const_set("Static#{backend_name.capitalize}Test", Class.new(Minitest::Test) do
    include StaticFileServingTests

    started = {}
    Minitest.after_run do
      started[:server]&.kill
      started[:folder]&.remove
    end
    define_method(:backend) { backend_name }
    define_method(:folder) { started[:folder] ||= StaticFilesFixture.new }
    define_method(:server) do
      options = ["--backend", backend_name, "--list", "--gzip-static", *ServerProcess::PATIENT]
      started[:server] ||= ServerProcess.new(*options, app: folder.path, command: ["static"])
    end
  end)
end
