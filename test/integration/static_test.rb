# frozen_string_literal: true

require_relative "../test_helper"
require "fileutils"
require "zlib"

# `upwell static`: real files over real sockets, on every backend.
module StaticTests
  LARGE_BYTES = 3_000_000

  # The folder that is served, a file outside of it, and what a traversal must not find.
  class Folder
    attr_reader :path

    def initialize
      @outside = Dir.mktmpdir
      @path = File.join(@outside, "www")
      fill
    end

    def write(name, content)
      file = File.join(path, name)
      FileUtils.mkdir_p(File.dirname(file))
      File.binwrite(file, content)
    end

    # As editors and deployments do: another file under the same name.
    def replace(name, content)
      write("#{name}.new", content)
      File.rename(File.join(path, "#{name}.new"), File.join(path, name))
    end

    def remove
      FileUtils.rm_rf(@outside)
    end

    private

    def fill
      { "index.html" => "<h1>root</h1>", "a.txt" => "0123456789", "sub/index.html" => "sub", "list/b&c.txt" => "x",
        "ä ö.txt" => "umlaut", "large.bin" => Random.new(1).bytes(LARGE_BYTES), "app.js" => "let a", "app.js.gz" => Zlib.gzip("let a"),
        ".secret" => "secret", ".well-known/security.txt" => "contact", "404.html" => "<h1>not here</h1>", "empty.css" => "",
        "../outside.txt" => "secret" }.each { |name, content| write(name, content) }
      File.symlink("../outside.txt", File.join(path, "leads_out.txt"))
      File.symlink("a.txt", File.join(path, "link.txt"))
      File.mkfifo(File.join(path, "fifo"))
    end
  end

  def get(target, *fields, method: "GET")
    RawClient.open(server.port) do |client|
      client.write(["#{method} #{target} HTTP/1.1", "Host: test", *fields].join("\r\n") + "\r\n\r\n")
      client.response(head: method == "HEAD")
    end
  end

  def field(response, name)
    response.headers[name]&.first
  end

  def test_the_backend_asked_for_is_in_use
    assert_match(/\(#{backend}, static files\)/, server.lines.join)
  end

  def test_files_and_their_types
    { "/a.txt" => ["0123456789", "text/plain; charset=utf-8"], "/" => ["<h1>root</h1>", "text/html; charset=utf-8"],
      "/sub/" => ["sub", "text/html; charset=utf-8"], "/empty.css" => ["", "text/css; charset=utf-8"], "/link.txt" => ["0123456789", nil],
      "/%C3%A4%20%c3%b6.txt?q" => ["umlaut", nil], "/.well-known/security.txt" => ["contact", nil],
      "/large.bin" => [Random.new(1).bytes(LARGE_BYTES), "application/octet-stream"] }.each do |target, (content, type)|
      response = get(target)
      assert_equal [200, content.b], [response.status, response.body.b], target
      assert_equal type, field(response, "content-type") if type
      assert_equal "bytes", field(response, "accept-ranges")
    end
  end

  def test_head_and_options_and_other_methods
    response = get("/a.txt", method: "HEAD")
    assert_equal [200, "10"], [response.status, field(response, "content-length")]
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

  def test_conditions
    first = get("/a.txt")
    etag = field(first, "etag")
    modified = field(first, "last-modified")
    { "If-None-Match: #{etag}" => 304, "If-None-Match: \"x\", W/#{etag}" => 304, "If-None-Match: *" => 304, "If-None-Match: \"x\"" => 200,
      "If-Modified-Since: #{modified}" => 304, "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT" => 200, "If-Match: \"x\"" => 412,
      "If-Match: #{etag}" => 200, "If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT" => 412,
      "If-Modified-Since: #{modified}\r\nIf-None-Match: \"x\"" => 200 }.each do |condition, status|
      response = get("/a.txt", condition)
      assert_equal status, response.status, condition
      assert_equal etag, field(response, "etag") if [200, 304].include?(status)
    end
  end

  def test_ranges
    { "0-3" => "0123", "5-" => "56789", "-2" => "89", "8-99" => "89" }.each do |range, content|
      response = get("/a.txt", "Range: bytes=#{range}")
      first = "0123456789".index(content)
      assert_equal [206, content, "bytes #{first}-#{first + content.size - 1}/10"],
                   [response.status, response.body, field(response, "content-range")], range
    end
    assert_equal [416, "bytes */10"], get("/a.txt", "Range: bytes=10-").then { |r| [r.status, field(r, "content-range")] }
    ["bytes=a", "items=0-1", "bytes=0-,0-", "bytes=#{Array.new(17) { |i| "#{i}-#{i}" }.join(",")}"].each do |value|
      assert_equal [200, "0123456789"], get("/a.txt", "Range: #{value}").then { |r| [r.status, r.body] }, value
    end
    large = Random.new(1).bytes(LARGE_BYTES)
    assert_equal large[1_000_000, 500_000], get("/large.bin", "Range: bytes=1000000-1499999").body.b
  end

  def test_several_ranges
    response = get("/a.txt", "Range: bytes=0-1,-2")
    boundary = field(response, "content-type")[/\Amultipart\/byteranges; boundary="?([0-9a-f]+)"?\z/, 1]
    parts = response.body.split(/(?:\r\n)?--#{boundary}(?:--)?\r\n/).reject(&:empty?)
    assert_equal [206, response.body.bytesize], [response.status, field(response, "content-length").to_i]
    assert_equal [["bytes 0-1/10", "01"], ["bytes 8-9/10", "89"]],
                 parts.map { |part| [part[/Content-Range: (.*)\r/, 1], part[/\r\n\r\n(.*)/m, 1]] }
  end

  def test_a_range_of_what_has_changed_is_the_whole
    etag = field(get("/a.txt"), "etag")
    assert_equal 206, get("/a.txt", "Range: bytes=0-0", "If-Range: #{etag}").status
    assert_equal 200, get("/a.txt", "Range: bytes=0-0", "If-Range: \"x\"").status
  end

  def test_precompressed
    plain = get("/app.js")
    coded = get("/app.js", "Accept-Encoding: br;q=1, gzip;q=0.5")
    assert_equal ["let a", nil], [plain.body, field(plain, "content-encoding")]
    assert_equal ["let a", "gzip"], [Zlib.gunzip(coded.body), field(coded, "content-encoding")]
    assert_equal field(plain, "content-type"), field(coded, "content-type")
    assert_equal ["Accept-Encoding"] * 2, [plain, coded].map { |response| field(response, "vary") }
    refute_equal field(plain, "etag"), field(coded, "etag")
    assert_nil field(get("/app.js", "Accept-Encoding: gzip;q=0"), "content-encoding")
  end

  def test_a_listing
    page = get("/list/")
    assert_equal [200, "text/html; charset=utf-8"], [page.status, field(page, "content-type")]
    assert_includes page.body, '<a href="b%26c.txt">b&amp;c.txt</a><td>1 B<td>'
    refute_includes get("/.well-known/").body, "secret"
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

  def test_a_file_that_is_replaced
    folder.write("new.txt", "one")
    first = get("/new.txt")
    folder.replace("new.txt", "two two")
    second = await { get("/new.txt").then { |response| response if response.body != "one" } }
    assert_equal ["one", "two two"], [first.body, second.body]
    refute_equal field(first, "etag"), field(second, "etag")
    File.unlink(File.join(folder.path, "new.txt"))
    await { get("/new.txt").status == 404 }
  end

  def test_a_file_that_is_replaced_while_it_is_sent_arrives_whole
    content = Random.new(2).bytes(LARGE_BYTES * 4)
    folder.write("whole.bin", content)
    RawClient.open(server.port) do |client|
      client.write("GET /whole.bin HTTP/1.1\r\nHost: test\r\n\r\n")
      client.socket.wait_readable(10)
      folder.replace("whole.bin", "short")
      assert_equal content, client.response.body.b
    end
  end

  def test_a_file_that_is_cut_while_it_is_sent_ends_the_connection
    folder.write("cut.bin", Random.new(3).bytes(LARGE_BYTES * 8))
    RawClient.open(server.port) do |client|
      client.write("GET /cut.bin HTTP/1.1\r\nHost: test\r\n\r\n")
      client.socket.wait_readable(10)
      File.truncate(File.join(folder.path, "cut.bin"), 1000)
      assert_operator client.read_all.bytesize, :<, LARGE_BYTES * 8 # what is read here ends with the connection
    end
  end

  def test_many_requests_on_one_connection
    RawClient.open(server.port) do |client|
      targets = %w[/a.txt / /nowhere /sub/ /large.bin /app.js] * 5
      client.write(targets.map { |target| "GET #{target} HTTP/1.1\r\nHost: test\r\n\r\n" }.join)
      assert_equal [200, 200, 404, 200, 200, 200] * 5, targets.map { client.response.status }
    end
  end

  private

  # What the cache holds is looked at again once a second; asks until then.
  def await
    Timeout.timeout(10) do
      loop { (result = yield) && (return result) }
    end
  end
end

BACKENDS.each do |backend_name|
  Object.const_set("Static#{backend_name.capitalize}Test", Class.new(Minitest::Test) do
    include StaticTests

    started = {}
    Minitest.after_run do
      started[:server]&.kill
      started[:folder]&.remove
    end
    define_method(:backend) { backend_name }
    define_method(:folder) { started[:folder] ||= StaticTests::Folder.new }
    define_method(:server) do
      started[:server] ||= ServerProcess.new("--backend", backend_name, "--list", "--gzip-static", app: folder.path, command: ["static"])
    end
  end)
end
