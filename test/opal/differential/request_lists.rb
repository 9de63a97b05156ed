# frozen_string_literal: true

require "uri"

module Differential
  # A request: "GET /path", header fields, content.
  Request = Struct.new(:line, :fields, :content) do
    # @return [String] how the run and the guide name it
    def name
      [line, *fields.map { |pair| pair.join(": ") }, content && "#{content.bytesize} bytes"].compact.join(", ")
    end
  end

  # What each application is asked, in this order.
  module Requests
    class << self
      # @return [Hash{String => Array<Request>}] by the application's name
      def all
        @all ||= APPLICATIONS.to_h { |name| [name, send(name)] }.freeze
      end

      private

      # Each line with each set of fields.
      def crossed(lines, sets = [{}])
        lines.product(sets).map { |line, fields| Request.new(line, fields, nil) }
      end

      def get(*paths)
        crossed(paths.map { |path| "GET #{path}" })
      end

      def with(line, fields, content = nil)
        Request.new(line, fields, content)
      end

      def form(line, content, type = "application/x-www-form-urlencoded")
        with(line, { "Content-Type" => type }, content)
      end

      def escaped(text)
        URI.encode_www_form_component(text)
      end

      def middlewares
        paths = ["/", "/long", "/pieces", "/empty", "/unicode", "/long?dated=1", "/long?plain=1", "/long?type=image/png", "/?status=404",
                 "/long?status=204"]
        codings = ["gzip", "gzip;q=0.8", "deflate, gzip;q=0.5", "identity", "*", "gzip;q=0, identity;q=0", "br"].map do |value|
          { "Accept-Encoding" => value }
        end
        conditions = [{}, { "If-Modified-Since" => "Sat, 01 Nov 2025 10:00:00 GMT" }, { "If-None-Match" => "*" },
                      { "If-None-Match" => "W/\"5f4dcc3b5aa765d61d8327deb882cf99\"" }]
        crossed(paths.map { |path| "GET #{path}" }, codings + conditions) + crossed(paths.map { |path| "HEAD #{path}" }) +
          [form("POST /method", "_method=put"), form("POST /method", "_method=none"),
           with("POST /method", { "X-HTTP-Method-Override" => "DELETE" }, "")]
      end

      def requests
        queries = ["a=1&b=2", "a[]=1&a[]=2", "a[b][c]=1&a[b][d]=2", "a=%C3%A9&b=%F0%9F%98%80", "a=%FF", "a", "=b", "a=1;b=2", "a+b=c+d", "a=1&a[b]=2", "a[]=1&a[][b]=2",
                   "%", "a=%zz", "x=#{"y" * 500}", "a[][x]=1&a[][y]=2&a[][x]=3", "&&a=1&&", "[a]=1", "a%5Bb%5D=1", "a[#{"b][" * 40}c]=1"]
        fields = [{ "Cookie" => "a=1; b=\"two\"; a=3; c=%C3%A9" }, { "Cookie" => "bad; =x; y=" }, { "X-Forwarded-For" => "1.2.3.4, 5.6.7.8", "X-Forwarded-Proto" => "https" },
                  { "Accept-Language" => "de, en;q=0.7" }, { "User-Agent" => "A/1", "Referer" => "http://there/x" }, { "X-Requested-With" => "XMLHttpRequest" },
                  { "Forwarded" => "for=1.1.1.1;proto=https;host=h" }, { "Accept-Encoding" => "gzip, br;q=0.1" }]
        crossed(queries.map { |query| "GET /?#{query}" }) + crossed(["GET /a%20b/c?d"], fields) +
          queries.first(12).map { |query| form("POST /", query) } + multipart
      end

      def multipart
        parts = ["Content-Disposition: form-data; name=\"a\"\r\n\r\none", "Content-Disposition: form-data; name=\"f\"; filename=\"x.txt\"\r\nContent-Type: text/plain\r\n\r\nfile\ncontent",
                 "Content-Disposition: form-data; name=\"g\"; filename=\"b.bin\"\r\nContent-Type: application/octet-stream\r\n\r\n#{(0..255).map(&:chr).join.b}",
                 "Content-Disposition: form-data; name=\"ü\"\r\n\r\nsmørrebrød"].map(&:b)
        bodies = [parts.first(1), parts.first(2), parts.first(3), parts, parts.rotate].map do |some|
          some.map do |part|
            "--XX\r\n#{part}\r\n".b
          end.join + "--XX--\r\n"
        end
        (bodies + ["--XX--\r\n", "", "--XX\r\nnot a part"]).map { |body| form("POST /", body, "multipart/form-data; boundary=XX") }
      end

      def sessions
        get("/count", "/count", "/put?key=a&value=b", "/count", "/show", "/put?key=%C3%A9&value=%F0%9F%98%80", "/show", "/clear", "/count",
            "/drop", "/show", "/count") +
          [with("GET /count", { "Cookie" => "visits=forged" }), with("GET /count", { "Cookie" => "" })]
      end

      def static
        paths = %w[/static/b.txt /static/c.css /static/none.txt /static/../a.txt /static/%2e%2e/a.txt /files/a.txt /files/page.html /files/none /files/%61.txt
                   /files/ /files/static /cascade/a.txt /cascade/none /folder/none /other /mime/x.html /mime/x.tar /mime/x.svg /mime/x]
        ranges = ["bytes=0-3", "bytes=5-", "bytes=-4", "bytes=100-200", "bytes=0-1,4-5", "bytes=x"].map do |range|
          with("GET /files/a.txt", { "Range" => range })
        end
        crossed(paths.flat_map { |path| ["GET #{path}", "HEAD #{path}"] } + ["POST /files/a.txt", "OPTIONS /files/a.txt"]) + ranges
      end

      def utilities
        given = { "escape" => ["a b&c", "é/ü", "~*-._"], "escape_path" => ["a b/c", "é"], "unescape" => ["a+b%20c", "%C3%A9", "%"], "escape_html" => ["<a href='x'>\"&</a>", "é"],
                  "query" => ["a[b]=1&c[]=2&c[]=3", "a=1&b", ""], "flat" => ["a=1&a=2&b=3", "x=%20"], "accepts" => ["text/html;q=0.5, */*;q=0.1", ""],
                  "best" => ["text/*, application/json;q=0.9", "image/png", "*/*"], "encoding" => ["gzip", "gzip;q=0, *", "deflate", "identity;q=0"],
                  "ranges" => ["bytes=0-10", "bytes=-5", "bytes=990-2000", "bytes=5-1", "junk"], "cookies" => ["a=1; b=2", "a=%20; a=3", ""], "cookie" => ["name", "a b"],
                  "clean" => ["/a/../b", "//a//b/.", "/../../x"], "status" => ["ok", "not_found", "nothing"], "forwarded" => ["for=1;by=2, for=3", "proto=http"],
                  "mime" => [".html", ".x", ".JPG"], "media" => ["text/html; charset=UTF-8", "a/b;c=\"d\"", ""], "digest" => ["a", "b", "é"] }
        get(*given.flat_map { |name, values| values.map { |value| "/#{name}?of=#{escaped(value)}" } }, "/nothing?of=x")
      end

      def roda
        paths = %w[/ /hello/you /hello/%3Cb%3E /hello/ /sum/2/40 /sum/a/b /digits/123 /digits/x /rest/a/b/c /item/5 /item/x /typed /typed.json /typed.xml /typed.txt
                   /cast?n=41&list[]=1&list[]=2&s=x /cast?n=a&s= /cast?list=3 /moved /stop /forbidden /fails /etag /old /cookie /uncookie /flashed /flash /flash /count /count
                   /regexp/12-ab /regexp/ab-12 /notes /notes/one /nothing?needs=1 /nothing /HELLO/x]
        crossed(paths.map { |path| "GET #{path}" }) + crossed(paths.first(12).map { |path| "HEAD #{path}" }) +
          crossed(["GET /etag"], [{ "If-None-Match" => "\"abc\"" }, { "If-Match" => "\"x\"" }, { "If-None-Match" => "*" }]) +
          crossed(["GET /old"], [{ "If-Modified-Since" => "Wed, 15 Nov 2023 00:00:00 GMT" }, { "If-Modified-Since" => "junk" }]) +
          crossed(["GET /typed"], [{ "Accept" => "application/json" }, { "Accept" => "application/xml, text/html;q=0.1" }]) +
          [form("POST /echo", "a=1&b[]=2"), form("POST /echo", "{\"a\":[1,{\"b\":null}],\"c\":\"é\"}", "application/json"), form("POST /echo", "{bad", "application/json"),
           *crossed(["PUT /item/5", "PATCH /item/5", "DELETE /item/5", "OPTIONS /item/5", "POST /item/5"]), form("POST /form", "needs=1")]
      end

      def sinatra
        paths = %w[/ /hello/you /hello/%3Cb%3E /hello/a%2Fb /two/1/2 /two/1 /optional /optional/ /optional/x /splat/a/b.c /regexp/41 /regexp/x /json /query?b=2&a[]=1&a[]=3
                   /query?a[b]=c /status/201 /status/404 /status/503 /status/204 /halt /pass /redirect /back /fails /breaks /etag /modified /expires /cookie /after /attachment
                   /type /provides /agent /erb?x=%3Ci%3E /layout /page?x=%3Ci%3E /url /stream /none /query?a=%FF]
        crossed(paths.map { |path| "GET #{path}" }) + crossed(paths.first(15).map { |path| "HEAD #{path}" }) +
          crossed(["GET /etag"],
                  [{ "If-None-Match" => "\"abc\"" },
                   { "If-Match" => "\"x\"" }]) + crossed(["GET /modified"], [{ "If-Modified-Since" => "Wed, 15 Nov 2023 00:00:00 GMT" }]) +
          crossed(["GET /provides"], [{ "Accept" => "application/json" }, { "Accept" => "text/html" }, { "Accept" => "image/png" }]) +
          crossed(["GET /agent"], [{ "User-Agent" => "Robot 7" }]) + crossed(["GET /back"], [{ "Referer" => "/there" }]) +
          [form("POST /form", "a=1&b[]=2&b[]=3&c[d]=%C3%A9"), form("POST /form", ""), form("POST /body", "backwards", "text/plain"), form("PUT /item/5", "a=b"),
           *crossed(["PATCH /item/5", "DELETE /item/5", "OPTIONS /item/5", "POST /none"])]
      end

      def mustermann
        get(*%w[/ /a /a.b /a.b.c /a/b /a/b/c /b/c /x /x/ /x/y /12 /12d /lang/de /lang/de/ /lang/de/a/b /1/mid/2 /1/2/mid/3/4 /%C3%A9/n /2024-05
                /2024-5 /r/a/b /a%20b /a+b /%25])
      end

      def rack_attack
        get("/?name=a", "/?name=b", "/?name=a", "/?name=a", "/?name=a", "/?name=b", "/?name=a&friend=yes", "/") +
          crossed(["GET /"], [{ "User-Agent" => "Bad/1" }, { "User-Agent" => "Good/1" }])
      end

      def rack_cors
        origins = %w[http://one.example http://a.two.example http://a.two.example:80 http://evil.example null].map { |origin| { "Origin" => origin } }
        asked = origins.map do |origin|
          { **origin, "Access-Control-Request-Method" => "PUT", "Access-Control-Request-Headers" => "x-asked, x-other" }
        end
        crossed(["GET /api/x", "GET /plain", "GET /public/x", "GET /else"],
                [{}, *origins]) + crossed(["OPTIONS /api/x", "OPTIONS /plain", "OPTIONS /public/x"], asked)
      end

      def rack_protection
        crossed(["GET /", "GET /a?x=%3Cb%3E", "GET /..%2fetc", "GET /a/../b", "GET /?type=application/json"],
                [{}, { "Origin" => "http://evil.example" }, { "Referer" => "http://evil.example/" }]) +
          [with("POST /", { "Origin" => "http://evil.example" }, "x=1"), with("POST /", {}, "x=1"), form("POST /", "x=<b>")]
      end

      def jwt
        names = %w[a smørrebrød].map { |name| escaped(name) }
        token = "eyJhbGciOiJIUzI1NiJ9.eyJuYW1lIjoieCJ9"
        get(*names.map { |name| "/sign?name=#{name}" }, *%w[HS256 HS384 HS512 none XX].map { |alg| "/sign?name=a&alg=#{alg}" }, "/none",
            "/read?token=#{token}.AAAA", "/read?token=a.b", "/read?token=", "/read", "/read?token=eyJhbGciOiJub25lIn0.eyJuYW1lIjoieCJ9.")
      end

      def grape
        get("/v1/hello", "/v1/hello?name=x", "/v1/sum?a=1", "/v1/sum?a=1&b=3", "/v1/sum?a=x", "/v1/sum", "/v1/sum?a=1&b=11", "/v1/fails",
            "/v1/items/5", "/v1/none", "/v2/hello") +
          [form("POST /v1/items", "name=x"), form("POST /v1/items", "{\"name\":\"y\"}", "application/json"), with("DELETE /v1/hello", {})]
      end

      def liquid
        get(*%w[plain filters loop if case assign list table math wrong].product(%w[a b smørrebrød]).map do |page, name|
          "/#{page}?name=#{escaped(name)}"
        end)
      end

      def erubi
        pages(%w[plain loop escape if quotes trim])
      end

      def tilt
        pages(%w[erb layout escaped])
      end

      def roda_render
        pages(["", "alone", "inline", "partial", "each", "content"])
      end

      def haml
        pages(%w[plain nested escape])
      end

      def slim
        pages(%w[plain nested escape text])
      end

      def pages(names)
        get(*names.product(["a", "<b>&", "smørrebrød"]).map { |page, name| "/#{page}?name=#{escaped(name)}" })
      end
    end

    APPLICATIONS = %w[middlewares requests sessions static utilities roda sinatra mustermann rack_attack rack_cors rack_protection jwt grape
                      liquid erubi tilt roda_render haml slim].freeze
  end
end
