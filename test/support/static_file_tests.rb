# frozen_string_literal: true

require "set"
require_relative "download_tests"

# What holds of files, whoever serves them: `folder` is a StaticFilesFixture, `server` a ServerProcess.
module StaticFileTests
  include DownloadTests

  def field(response, name)
    response.headers[name]&.first
  end

  def test_files_and_their_types
    { "/a.txt" => ["0123456789", "text/plain; charset=utf-8"], "/" => ["<h1>root</h1>", "text/html; charset=utf-8"],
      "/sub/" => ["sub", "text/html; charset=utf-8"], "/empty.css" => ["", "text/css; charset=utf-8"], "/link.txt" => ["0123456789", nil],
      "/%C3%A4%20%c3%b6.txt?q" => ["umlaut", nil], "/.well-known/security.txt" => ["contact", nil],
      "/large.bin" => [Random.new(1).bytes(StaticFilesFixture::LARGE_BYTES), "application/octet-stream"] }.each do |target, (content, type)|
      response = get(target)
      assert_equal [200, content.b], [response.status, response.body.b], target
      assert_equal type, field(response, "content-type") if type
      assert_equal "bytes", field(response, "accept-ranges")
    end
  end

  def test_head_tells_the_length
    response = get("/a.txt", method: "HEAD")
    assert_equal [200, "10"], [response.status, field(response, "content-length")]
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
    large = Random.new(1).bytes(StaticFilesFixture::LARGE_BYTES)
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

  def test_a_file_that_is_replaced
    folder.write("new.txt", "one")
    first = get("/new.txt")
    folder.replace("new.txt", "two two")
    second = await { get("/new.txt").then { |response| response if response.body != "one" } }
    assert_equal ["one", "two two"], [first.body, second.body]
    refute_equal field(first, "etag"), field(second, "etag")
  end

  def test_a_file_that_is_replaced_while_it_is_sent_arrives_whole
    content = Random.new(2).bytes(StaticFilesFixture::LARGE_BYTES * 4)
    folder.write("whole.bin", content)
    RawClient.open(server.port) do |client|
      client.write("GET /whole.bin HTTP/1.1\r\nHost: test\r\n\r\n")
      client.socket.wait_readable(60)
      folder.replace("whole.bin", "short")
      assert_equal content, client.response.body.b
    end
  end

  def test_a_file_that_is_cut_while_it_is_sent_ends_the_connection
    folder.write("cut.bin", Random.new(3).bytes(StaticFilesFixture::LARGE_BYTES * 8))
    RawClient.open(server.port) do |client|
      client.write("GET /cut.bin HTTP/1.1\r\nHost: test\r\n\r\n")
      client.socket.wait_readable(60)
      File.truncate(File.join(folder.path, "cut.bin"), 1000)
      assert_operator client.read_all.bytesize, :<, StaticFilesFixture::LARGE_BYTES * 8 # what is read here ends with the connection
    end
  end

  # A client is served from one file or from another, never from parts of both, and never with an error.
  def test_files_that_are_replaced_under_load
    write_generation("a", folder.method(:write))
    generations = Thread.new { ("a".."z").cycle { |letter| write_generation(letter, folder.method(:replace)) } }
    Array.new(4) { Thread.new { download_until_replaced } }.each(&:join)
  ensure
    generations&.kill&.join
  end

  private

  # By name: one that is kept in memory, and one that is sent from its descriptor.
  GENERATION_SIZES = { "small.txt" => 1_000, "large.txt" => 300_000 }.freeze

  def write_generation(letter, write)
    GENERATION_SIZES.each { |name, size| write.call(name, letter * size) }
  end

  # The cache looks at a file again once a second.
  def download_until_replaced
    seen = GENERATION_SIZES.to_h { |name, _size| [name, Set.new] }
    RawClient.open(server.port) do |client|
      await { seen.each { |name, letters| letters << download_generation(client, name) }.values.all? { |letters| letters.size > 1 } }
    end
  end

  # @return [String] the letter that the whole file consists of
  def download_generation(client, name)
    client.write("GET /#{name} HTTP/1.1\r\nHost: test\r\n\r\n")
    response = client.response
    assert_equal [200, GENERATION_SIZES[name], 1], [response.status, response.body.bytesize, response.body.squeeze.size]
    response.body[0]
  end
end
