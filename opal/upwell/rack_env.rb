# backtick_javascript: true
# frozen_string_literal: true

require "upwell/byte_conversion"
require "upwell/rack_input"
require "upwell/upgrade"
require "upwell/version"

module Upwell
  # Creates the env of each request (Rack SPEC). This Hash is filled on first access: many requests are answered without one, and filling it
  # costs more than the rest of the request.
  class RackEnv
    SOFTWARE = "Upwell/#{VERSION}".freeze
    NAMES_MAX = 512 # of stored header field names
    NAME_LENGTH_MAX = 256
    FRAMING = %w[CONTENT_LENGTH CONTENT_TYPE TRANSFER_ENCODING].freeze
    LATE = "the request has ended, and its env was not read in time; read the needed values of env within call"
    PORTS = { "http" => "80", "https" => "443" }.freeze

    # Ruby constants would be looked up each time.
    `const BYTES = #{ByteConversion}, UPGRADE = #{Upgrade}, INPUT = #{Input}, software = #{SOFTWARE}, ports = #{PORTS}`

    # Each of the methods by which Opal's Hash accesses a Map fills the Map first.
    %x{
      const set = Map.prototype.set, get = Map.prototype.get; // for a Map that is being filled
      const OVER = {}; // stands for a source that no longer exists

      class RequestEnv extends Map {
        $$maker = null;
        $$source = null;
        $$content = null;

        constructor(maker, source, content) {
          super();
          this.$$maker = maker;
          this.$$source = source;
          this.$$content = content;
        }
        fill() {
          const source = this.$$source;

          if (source === OVER) this.$$maker.$refuse();
          this.$$source = null;
          if (source !== null) this.$$maker.$fill(this, source);
        }
        leave() { if (this.$$source !== null) this.$$source = OVER; }
        get(key) { if (this.$$source !== null) this.fill(); return super.get(key); }
        has(key) { if (this.$$source !== null) this.fill(); return super.has(key); }
        set(key, value) { if (this.$$source !== null) this.fill(); return super.set(key, value); }
        delete(key) { if (this.$$source !== null) this.fill(); return super.delete(key); }
        clear() { this.fill(); return super.clear(); }
        get size() { this.fill(); return super.size; }
        keys() { this.fill(); return super.keys(); }
        values() { this.fill(); return super.values(); }
        entries() { this.fill(); return super.entries(); }
        forEach(callback, receiver) { this.fill(); return super.forEach(callback, receiver); }
        [Symbol.iterator]() { this.fill(); return super.entries(); }
      }
    }

    # @param runtime [#describe] calls {#add} with the values of a request
    # @param underscores [Boolean] whether field names with an underscore are kept
    def initialize(runtime, underscores)
      @runtime = runtime
      @underscores = underscores
      @keys = `new Map()`
    end

    # Creates the env of a request.
    #
    # @param source [Object] the runtime's request
    # @param content [JavaScript Uint8Array, nil] its body
    # @return [Hash]
    def make(source, content)
      `new RequestEnv(self, source, content)`
    end

    # Fills an env. The Hash calls this method.
    #
    # @return [void]
    def fill(env, source)
      @runtime.describe(self, env, source)
    end

    # Raises an error for a late access. The Hash calls this method.
    #
    # @raise [IOError]
    def refuse
      raise IOError, LATE
    end

    # Fills an env with the values of a request.
    #
    # @param env [Hash]
    # @param method [String]
    # @param target [String] as the client sent it
    # @param protocol [String]
    # @param fields [JavaScript Array] names and values in turn
    # @param connection [ConnectionInfo]
    # @return [void]
    def add(env, method, target, protocol, fields, connection)
      %x{
        set.call(env, "REQUEST_METHOD", method);
        set.call(env, "SCRIPT_NAME", "");
        #{add_target(env, target)};
        set.call(env, "SERVER_PROTOCOL", protocol);
        set.call(env, "SERVER_SOFTWARE", software);
      }
      add_connection(env, connection)
      add_ours(env)
      add_fields(env, fields)
      add_server(env, connection)
      `set.call(env, "rack.upgrade?", UPGRADE.$wanted(env))`
    end

    private

    def add_target(env, target)
      %x{
        const query = target.indexOf("?");

        set.call(env, "PATH_INFO", BYTES.$string(query < 0 ? target : target.slice(0, query)));
        set.call(env, "QUERY_STRING", query < 0 ? "" : BYTES.$string(target.slice(query + 1)));
        set.call(env, "REQUEST_URI", BYTES.$string(target));
      }
    end

    def add_connection(env, connection)
      %x{
        set.call(env, "REMOTE_ADDR", connection.address);
        set.call(env, "REMOTE_PORT", connection.port);
        set.call(env, "rack.url_scheme", connection.scheme);
        if (connection.tls !== nil) connection.tls.forEach((value, key) => set.call(env, key, value));
      }
    end

    def add_ours(env)
      %x{
        set.call(env, "rack.input", INPUT.$new(env.$$content));
        set.call(env, "rack.errors", #{$stderr});
        set.call(env, "rack.response_finished", []);
      }
    end

    def add_fields(env, fields)
      %x{
        let odd = false;

        for (let i = 0; i < fields.length; i += 2) {
          const key = self.keys.get(fields[i]) || #{key(`fields[i]`)};

          if (key === "_") odd = self.underscores;
          else if (key !== "HTTP_TRANSFER_ENCODING") #{add_field(env, `key`, `fields[i + 1]`)};
        }
        if (odd) #{add_odd_fields(env, fields)};
        if (env.$$content !== nil) set.call(env, "CONTENT_LENGTH", "" + env.$$content.length);
      }
    end

    # A repeated field becomes one list (RFC 9110, section 5.3). Cookies are joined with the separator of the Cookie field.
    def add_field(env, key, text)
      %x{
        const old = get.call(env, key);

        if (old !== undefined) text = old.valueOf() + (key === "HTTP_COOKIE" ? "; " : ", ") + text;
        set.call(env, key, BYTES.$string(text));
      }
    end

    # CGI names do not distinguish "X_Forwarded_For" and "X-Forwarded-For", so names with an underscore are dropped, as in nginx. If the operator
    # allows them, such a field applies only when no field with hyphens exists, and never for fields that describe the content.
    def add_odd_fields(env, fields)
      %x{
        for (let i = 0; i < fields.length; i += 2) {
          const key = fields[i].includes("_") ? #{cgi_name(`fields[i]`)} : nil;

          if (key !== nil && !#{FRAMING.include?(`key.slice(5)`)} && !env.has(key)) set.call(env, key, BYTES.$string(fields[i + 1]));
        }
      }
    end

    # @return [String] the CGI name, such as "HTTP_ACCEPT"; "_" for a name with an underscore
    def key(name)
      key = name.include?("_") ? "_" : cgi_name(name)
      key = key.delete_prefix("HTTP_") if %w[HTTP_CONTENT_TYPE HTTP_CONTENT_LENGTH].include?(key)
      `self.keys.set(name, key)` if `self.keys.size` < NAMES_MAX && name.length <= NAME_LENGTH_MAX
      key
    end

    def cgi_name(name)
      "HTTP_" + name.upcase.tr("-", "_")
    end

    # Most requests have the same host, so it is stored.
    def add_server(env, connection)
      %x{
        const host = get.call(env, "HTTP_HOST");

        if (!host) return #{add_local(env, connection)};
        if (host !== self.host) #{remember_host(`host`)};
        set.call(env, "SERVER_NAME", self.server_name);
        set.call(env, "SERVER_PORT", self.server_port === "" ? ports.get(connection.scheme) : self.server_port);
      }
    end

    # The local address replaces a missing host.
    def add_local(env, connection)
      %x{
        const address = connection.local_address;

        env.delete("HTTP_HOST");
        set.call(env, "SERVER_NAME", address.includes(":") ? "[" + address + "]" : address || "localhost");
        set.call(env, "SERVER_PORT", connection.local_port || ports.get(connection.scheme));
      }
    end

    # Splits "host", "host:port", "[v6]" or "[v6]:port".
    def remember_host(host)
      colon = host.rindex(":")
      colon = nil if colon && host.index("]", colon)
      @host = host
      @server_name = colon ? host[0, colon] : host
      @server_port = colon ? host[(colon + 1)..] : ""
    end
  end
end
