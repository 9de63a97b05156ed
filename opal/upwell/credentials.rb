# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  # What a TLS address is served with: the texts of files (PEM).
  class Credentials
    `const fs = require("fs"), path = require("path")`

    # @param tls [Hash{Symbol => String}] cert_file, key_file, ca_file, client_certificate
    def initialize(tls)
      @tls = tls
    end

    # @return [String]
    def cert
      read(@tls[:cert_file])
    end

    # @return [String] without a file of its own it is the certificate's
    def key
      read(@tls[:key_file] || @tls[:cert_file])
    end

    # @return [JavaScript Array, nil] of those who vouch for clients, from a file, or the files of a folder
    def authorities
      path = @tls[:ca_file]
      return unless path

      `fs.statSync(path).isDirectory() ? fs.readdirSync(path).map(name => #{read(`path.join(#{path}, name)`)}) : [#{read(path)}]`
    end

    # @return [Boolean]
    def asks_clients?
      !@tls[:ca_file].nil?
    end

    # @return [Boolean]
    def requires_clients?
      asks_clients? && @tls[:client_certificate] == "required"
    end

    private

    def read(path)
      `fs.readFileSync(path, "utf8")`
    end
  end
end
