# frozen_string_literal: true

require "uri"
u = URI.parse("http://user:pw@example.com:8080/a/b?x=1&y#frag")
p u.scheme, u.host, u.port, u.path, u.query, u.fragment, u.user, u.to_s, u.class, u.request_uri
p URI("https://a.b").port, URI.join("http://a/b/c/d", "../e?q").to_s, URI.parse("/x?y").path, URI("mailto:a@b").opaque
p URI.encode_www_form_component("a b&é~*"), URI.decode_www_form_component("a+b%26%C3%A9"), URI.encode_www_form(a: 1, b: [2, "é"], c: nil), URI.decode_www_form("a=1&b=%20x")
begin; URI.parse("http://a b"); rescue URI::InvalidURIError => e; p e.class; end
begin; URI.decode_www_form_component("%zz"); rescue ArgumentError => e; p e.message; end
p URI.decode_www_form_component("%ff").valid_encoding?
p URI::DEFAULT_PARSER.escape("/é x"), URI::DEFAULT_PARSER.unescape("/%C3%A9%20x")
["http://a@b@c/", "http://u:p@h/x", "http://[::1]:80/"].each do |address|
  uri = URI.parse(address)
  p uri.userinfo, uri.host, uri.port
rescue URI::InvalidURIError => e
  p e.class
end
