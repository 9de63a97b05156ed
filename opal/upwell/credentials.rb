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

    # @return [String] path
    def cert_file
      @tls[:cert_file]
    end

    # @return [String] path; without a file of its own it is in the certificate's
    def key_file
      @tls[:key_file] || cert_file
    end

    # @return [String, nil] path
    def ca_file
      @tls[:ca_file]
    end

    # @return [String]
    def cert
      read(cert_file)
    end

    # @return [String]
    def key
      read(key_file)
    end

    # @return [JavaScript Array, nil] of those who vouch for clients, from a file, or the files of a folder
    def authorities
      return unless ca_file

      folder = ca_file
      `fs.statSync(folder).isDirectory() ? fs.readdirSync(folder).map(name => #{read(`path.join(folder, name)`)}) : [#{read(folder)}]`
    end

    # @return [Boolean]
    def asks_clients?
      !ca_file.nil?
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
