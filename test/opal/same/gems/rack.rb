# frozen_string_literal: true

require "rack"
require "rack/session"
require "tmpdir"
ROOT = Dir.mktmpdir
at_exit { File.unlink(File.join(ROOT, "a.html")); Dir.rmdir(ROOT) }
File.write(File.join(ROOT, "a.html"), "<h1>é</h1>\n")
def show(r) = p(r.status, r.headers.to_a.sort.map { |k, v| [k.to_s, v] }, r.body)
hello = ->(env) { [200, { "content-type" => "text/html" }, ["<p>hello ", "wörld</p>"]] }
app = Rack::Builder.new do
  use Rack::Lint
  use Rack::Head
  use Rack::ConditionalGet
  use Rack::ETag
  use Rack::ContentLength
  run hello
end.to_app
m = Rack::MockRequest.new(app)
show r = m.get("/")
show m.get("/", "HTTP_IF_NONE_MATCH" => r["etag"])
show m.head("/")
p Rack::MockRequest.new(Rack::Builder.new { use Rack::Runtime; run hello }).get("/")["x-runtime"].match?(/\A\d+\.\d+\z/)
static = Rack::MockRequest.new(Rack::Builder.new { use Rack::Static, urls: ["/a.html"], root: ROOT; run hello })
r = static.get("/a.html"); p r.status, r["content-type"], r["content-length"], r.body.bytesize, r["last-modified"].size
show static.get("/other")
r = static.get("/a.html", "HTTP_RANGE" => "bytes=0-3"); p r.status, r["content-range"], r.body
files = Rack::MockRequest.new(Rack::Files.new(ROOT))
r = files.get("/nope"); p r.status, r.body
secret = "s" * 64
counter = Rack::Builder.new do
  use Rack::Session::Cookie, secret: secret, key: "sess"
  run ->(env) { s = env["rack.session"]; s["n"] = (s["n"] || 0) + 1; [200, {}, ["n=#{s["n"]}"]] }
end.to_app
c = Rack::MockRequest.new(counter)
r = c.get("/"); p r.body
cookie = r["set-cookie"].split(";").first
r = c.get("/", "HTTP_COOKIE" => cookie); p r.body
p c.get("/", "HTTP_COOKIE" => cookie.sub(/=./, "=x")).body
q = Rack::Request.new(Rack::MockRequest.env_for("/p/a?x=1&y[]=2&y[]=3&z[a][b]=c+d&e=%C3%A9", "HTTP_COOKIE" => "a=b; c=%20d", "HTTP_HOST" => "example.org:8080"))
p q.params, q.cookies, q.host, q.port, q.path, q.url, q.get?, q.xhr?, q.query_string, q.user_agent, q.ip, q.host_with_port, q.base_url, q.fullpath, q.ssl?
q = Rack::Request.new(Rack::MockRequest.env_for("/f", method: "POST", params: { "a" => "1", "b" => { "c" => ["é", "2"] } }))
p q.POST, q.params, q.form_data?, q.media_type, q.content_length
body = "--AaB03x\r\nContent-Disposition: form-data; name=\"text\"\r\n\r\nhéllo\r\n--AaB03x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x.bin\"\r\nContent-Type: application/octet-stream\r\n\r\n\x00\xFF\x01\r\nz\r\n--AaB03x--\r\n".b
q = Rack::Request.new(Rack::MockRequest.env_for("/f", method: "POST", input: body, "CONTENT_TYPE" => "multipart/form-data; boundary=AaB03x", "CONTENT_LENGTH" => body.bytesize.to_s))
f = q.POST["file"]
p q.POST["text"], f[:filename], f[:type], f[:tempfile].read, f[:tempfile].class, f[:name]
p Rack::Utils.parse_nested_query("a=1&b[c]=2"), Rack::Utils.build_nested_query({ "a" => [1, 2], "b" => { "c" => "d" } }), Rack::Utils.escape("a b/é"), Rack::Utils.unescape("a+b%2F"), Rack::Utils.escape_html("<a&\">"), Rack::Utils.escape_path("/a b/é"), Rack::Utils.clean_path_info("/a/../b/./c"), Rack::Utils.status_code(:not_found), Rack::Utils.secure_compare("a", "a"), Rack::Utils.byte_ranges({ "HTTP_RANGE" => "bytes=1-2,5-" }, 10), Rack::Utils.best_q_match("text/*", ["text/html", "a/b"])
p Rack::Mime.mime_type(".html"), Rack::Utils.rfc2822(Time.at(0).utc)
resp = Rack::Response.new; resp.write("ab"); resp.write("c"); resp.set_cookie("k", value: "v", path: "/", httponly: true, max_age: 10); resp["x-a"] = "b"; s, h, b = resp.finish; p s, h, b.to_enum.to_a
begin; Rack::Utils.parse_nested_query("a=1&a[b]=2"); rescue => e; p e.class, e.message; end
begin; Rack::Utils.parse_query("a=%"); rescue => e; p e.class, e.message; end
lint = Rack::MockRequest.new(Rack::Lint.new(->(e) { [200, { "Content-Type" => "x" }, []] }))
begin; lint.get("/"); rescue Rack::Lint::LintError => e; p e.message; end
up = Rack::Builder.new { map("/a") { run ->(e) { [200, {}, [e["SCRIPT_NAME"], "|", e["PATH_INFO"]]] } }; map("/") { run ->(e) { [404, {}, ["none"]] } } }.to_app
p Rack::MockRequest.new(up).get("/a/b").body, Rack::MockRequest.new(up).get("/x").status
d = Rack::MockRequest.new(Rack::Builder.new { use Rack::Deflater; run hello }).get("/", "HTTP_ACCEPT_ENCODING" => "gzip"); require "zlib"; p d["content-encoding"], Zlib.gunzip(d.body).force_encoding("UTF-8")
au = Rack::MockRequest.new(Rack::Builder.new { use(Rack::Auth::Basic, "r") { |u, pw| u == "a" && pw == "b" }; run hello })
p au.get("/").status, au.get("/", "HTTP_AUTHORIZATION" => "Basic " + ["a:b"].pack("m0")).status
mo = Rack::MockRequest.new(Rack::Builder.new { use Rack::MethodOverride; run ->(e) { [200, {}, [e["REQUEST_METHOD"]]] } }); p mo.post("/", params: { "_method" => "put" }).body
cl = StringIO.new; Rack::MockRequest.new(Rack::CommonLogger.new(hello, cl)).get("/z?q"); p cl.string.match?(/"GET \/z\?q HTTP\/1.1" 200 - /), cl.string.size > 20
p Rack::MockRequest.new(Rack::Cascade.new([->(e) { [404, {}, []] }, hello])).get("/").status
p Rack::MockRequest.new(Rack::Events.new(hello, [])).get("/").body
p Rack::MockRequest.new(Rack::TempfileReaper.new(hello)).get("/").status
h = Rack::Headers.new; h["Content-Type"] = "x"; p h["content-type"], h.to_a
