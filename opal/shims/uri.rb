# frozen_string_literal: true

# URIs: their parts, and the escaping of text (RFC 3986).
module URI
  Error = Class.new(StandardError)
  InvalidURIError = Class.new(Error)
  InvalidComponentError = Class.new(Error)
  BadURIError = Class.new(Error)

  PARTS = %r{\A(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?\z}m
  AUTHORITY = /\A(?:([^@]*)@)?(\[[\h:.]+\]|[^:@\[\]]*)(?::(\d*))?\z/
  NOT_ALLOWED = /[^!#$%&'()*+,\-.\/0-9:;=?@A-Z\[\]_a-z~]/
  UNRESERVED = /[^*\-.0-9A-Z_a-z]/
  UNSAFE = /[^\-_.!~*'()a-zA-Z\d;\/?:@&=+$,\[\]]/

  class << self
    def parse(text)
      text = text.to_s
      raise InvalidURIError, "bad URI (is not URI?): #{text.inspect}" if NOT_ALLOWED.match?(text) || /%(?!\h\h)/.match?(text)

      _, scheme, authority, path, query, fragment = *PARTS.match(text)
      user, host, port = authority ? split_authority(authority, text) : nil
      of(scheme&.downcase).new(scheme&.downcase, user, host, port, nil, path, nil, query, fragment)
    end

    def split(text)
      uri = parse(text)
      [uri.scheme, uri.userinfo, uri.host, uri.explicit_port&.to_s, nil, uri.path, uri.opaque, uri.query, uri.fragment]
    end

    def join(first, *others)
      others.inject(parse(first)) { |uri, other| uri.merge(other) }
    end

    def for(scheme, *parts)
      of(scheme.downcase).new(scheme.downcase, *parts)
    end

    def scheme_list
      { "HTTP" => HTTP, "HTTPS" => HTTPS, "WS" => WS, "WSS" => WSS, "FILE" => File, "MAILTO" => MailTo }
    end

    def encode_www_form_component(text, _encoding = nil)
      text.to_s.b.gsub(UNRESERVED) { |byte| byte == " " ? "+" : format("%%%02X", byte.ord) }.force_encoding("UTF-8")
    end

    def decode_www_form_component(text, encoding = Encoding::UTF_8)
      decode(text.tr("+", " "), text, encoding)
    end

    def encode_uri_component(text, _encoding = nil)
      encode_www_form_component(text).gsub("+", "%20")
    end

    def decode_uri_component(text, encoding = Encoding::UTF_8)
      decode(text, text, encoding)
    end

    def encode_www_form(pairs, _encoding = nil)
      pairs.flat_map do |name, value|
        if value.respond_to?(:to_ary)
          value.to_ary.map do |one|
            form_pair(name, one)
          end
        else
          [form_pair(name, value)]
        end
      end.join("&")
    end

    def decode_www_form(text, encoding = Encoding::UTF_8, separator: "&")
      text.split(separator).map do |pair|
        name, value = pair.split("=", 2)
        [decode_www_form_component(name.to_s, encoding), decode_www_form_component(value.to_s, encoding)]
      end
    end

    def regexp(*)
      /[a-z][a-z0-9+.-]*:[^\s<>"]+/i
    end

    def extract(text, *)
      text.scan(regexp)
    end

    private

    def form_pair(name, value)
      name = encode_www_form_component(name)
      value.nil? ? name : "#{name}=#{encode_www_form_component(value)}"
    end

    def decode(text, given, encoding)
      raise ArgumentError, "invalid %-encoding (#{given})" if /%(?!\h\h)/.match?(text)
      return text unless text.include?("%")

      text.b.gsub(/%\h\h/) { |code| code[1, 2].hex.chr.b }.force_encoding(encoding)
    end

    def split_authority(authority, text)
      found = AUTHORITY.match(authority)
      raise InvalidURIError, "bad URI (is not URI?): #{text.inspect}" unless found

      [found[1], found[2], found[3].to_s.empty? ? nil : found[3].to_i]
    end

    def of(scheme)
      { "http" => HTTP, "https" => HTTPS, "ws" => WS, "wss" => WSS, "file" => File, "mailto" => MailTo }.fetch(scheme, Generic)
    end
  end

  # A URI with its parts.
  class Generic
    DEFAULT_PORT = nil

    attr_accessor :userinfo, :host, :query, :fragment
    attr_reader :scheme, :path, :opaque
    attr_writer :port

    def self.build(parts)
      values = parts.is_a?(Hash) ? %i[userinfo host port path query fragment].map { |name| parts[name] } : parts
      userinfo, host, port, path, query, fragment = *values
      scheme = name.split("::").last.downcase
      new(scheme == "generic" ? parts[:scheme] : scheme, userinfo, host, port, nil, path.to_s, nil, query, fragment)
    end

    def self.default_port
      self::DEFAULT_PORT
    end

    def initialize(scheme, userinfo, host, port, _registry, path, opaque, query, fragment, *)
      @scheme = scheme
      @userinfo = userinfo
      @host = host
      @port = port
      @query = query
      @fragment = fragment
      hierarchical = scheme.nil? || host || path.to_s.empty? || path.start_with?("/")
      @path = hierarchical ? path.to_s : nil
      @opaque = hierarchical ? opaque : path
    end

    def port
      @port || default_port
    end

    def explicit_port
      @port
    end

    def default_port
      self.class::DEFAULT_PORT
    end

    def scheme=(scheme)
      @scheme = scheme&.downcase
    end

    def path=(path)
      raise InvalidComponentError, "bad component(expected path component): #{path}" if path&.match?(/[?#\s]/)

      @path = path
    end

    def user
      @userinfo&.split(":", 2)&.first
    end

    def password
      @userinfo&.split(":", 2)&.[](1)
    end

    def user=(user)
      @userinfo = [user, password].compact.join(":")
    end

    def password=(password)
      @userinfo = "#{user}:#{password}"
    end

    def hostname
      @host&.start_with?("[") ? @host[1..-2] : @host
    end

    def hostname=(name)
      @host = name.include?(":") && !name.start_with?("[") ? "[#{name}]" : name
    end

    def authority
      return nil unless @host

      "#{"#{@userinfo}@" if @userinfo}#{@host}#{":#{@port}" if @port && @port != default_port}"
    end

    def request_uri
      path = @path.to_s.empty? ? "/" : @path
      @query ? "#{path}?#{@query}" : path
    end

    def origin
      "#{@scheme}://#{@host}#{":#{@port}" if @port && @port != default_port}"
    end

    def absolute?
      !@scheme.nil?
    end

    alias absolute absolute?

    def relative?
      !absolute?
    end

    def hierarchical?
      @opaque.nil?
    end

    def opaque?
      !hierarchical?
    end

    def normalize
      copy = dup
      copy.host = @host.downcase if @host
      copy.path = "/" if @path == "" && @host
      copy
    end

    def merge(other)
      other = URI.parse(other) unless other.is_a?(Generic)
      return other if other.absolute?
      raise BadURIError, "both URI are relative" if relative?

      merged(other)
    end

    alias + merge

    def to_s
      out = +""
      out << "#{@scheme}:" if @scheme
      out << @opaque.to_s
      out << "//#{authority}" if @host
      out << "/" if @host && @path && !@path.empty? && !@path.start_with?("/")
      out << @path.to_s
      out << "?#{@query}" if @query
      out << "##{@fragment}" if @fragment
      out
    end

    alias to_str to_s

    def ==(other)
      other.is_a?(Generic) && normalize.to_s == other.normalize.to_s
    end

    alias eql? ==

    def hash
      normalize.to_s.hash
    end

    def inspect
      "#<#{self.class} #{self}>"
    end

    private

    def merged(other)
      uri = dup
      uri.fragment = other.fragment
      if other.host
        uri.userinfo = other.userinfo
        uri.host = other.host
        uri.port = other.explicit_port
      elsif other.path.empty?
        uri.query = other.query || @query
        return uri
      end
      uri.path = other.host ? other.path : resolved(other.path)
      uri.query = other.query
      uri
    end

    def resolved(path)
      path = "#{@path.sub(%r{[^/]*\z}, "")}#{path}" unless path.start_with?("/")
      parts = path.split("/", -1).each_with_object([]) do |part, all|
        case part
        when "." then next
        when ".." then all.pop if all.size > 1
        else all.push(part)
        end
      end
      parts << "" if path.match?(%r{/\.{1,2}\z})
      joined = parts.join("/")
      joined.start_with?("/") ? joined : "/#{joined}"
    end
  end

  HTTP = Class.new(Generic) { const_set(:DEFAULT_PORT, 80) }
  HTTPS = Class.new(HTTP) { const_set(:DEFAULT_PORT, 443) }
  WS = Class.new(Generic) { const_set(:DEFAULT_PORT, 80) }
  WSS = Class.new(WS) { const_set(:DEFAULT_PORT, 443) }
  File = Class.new(Generic)
  MailTo = Class.new(Generic)

  # Ruby's parser classes, which are one class here.
  class Parser
    def parse(text)
      URI.parse(text)
    end

    def split(text)
      URI.split(text)
    end

    def join(...)
      URI.join(...)
    end

    def escape(text, unsafe = UNSAFE)
      text.b.gsub(unsafe) { |bytes| bytes.bytes.map { |byte| format("%%%02X", byte) }.join }.force_encoding("UTF-8")
    end

    def unescape(text, escaped = /%[a-fA-F\d]{2}/)
      text.b.gsub(escaped) { |code| code[1, 2].hex.chr.b }.force_encoding("UTF-8")
    end

    def make_regexp(*)
      URI.regexp
    end

    def extract(...)
      URI.extract(...)
    end

    def regexp
      { UNSAFE: UNSAFE, ESCAPED: /%[a-fA-F\d]{2}/, ABS_URI: /\A[A-Za-z][A-Za-z0-9+.-]*:\S+\z/, SCHEME: /\A[A-Za-z][A-Za-z0-9+.-]*\z/ }
    end
  end

  RFC3986_Parser = RFC2396_Parser = Parser
  DEFAULT_PARSER = RFC3986_PARSER = RFC2396_PARSER = Parser.new
end

module Kernel
  def URI(text)
    text.is_a?(URI::Generic) ? text : URI.parse(text)
  end
end
