# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  # The TLS credentials of an address: the texts of PEM files.
  class TLSCredentials
    `const fs = require("fs"), path = require("path"), crypto = require("crypto")`

    # @param tls [Hash{Symbol => String}] cert_file, key_file, ca_file, client_certificate
    def initialize(tls)
      @tls = tls
    end

    # @return [String] the path
    def cert_file
      @tls[:cert_file]
    end

    # @return [String] the path; without a key file, the key is in the certificate's file
    def key_file
      @tls[:key_file] || cert_file
    end

    # @return [String, nil] the path
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

    # @return [JavaScript Array, nil] the CAs of client certificates, from a file or a directory of files
    def authorities
      return unless ca_file

      folder = ca_file
      `fs.statSync(folder).isDirectory() ? fs.readdirSync(folder).map(name => #{read(`path.join(folder, name)`)}) : [#{read(folder)}]`
    end

    # @return [Boolean]
    def asks_clients?
      !ca_file.nil?
    end

    # Disables tickets, because sessions have no age limit here. So each handshake verifies the client's certificate.
    #
    # @return [Integer] OpenSSL's options
    def options
      asks_clients? ? `crypto.constants.SSL_OP_NO_TICKET` : 0
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
