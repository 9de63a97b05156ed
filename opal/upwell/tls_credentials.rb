# backtick_javascript: true
# frozen_string_literal: true

require "upwell/configuration"

module Upwell
  # The TLS credentials of an address: the texts of PEM files. They are checked here, because the runtimes' own errors name no file.
  class TLSCredentials
    VALID = "name a valid PEM file with --cert-file, --key-file or --ca-file"
    MATCHING = "name another certificate and its key, with --cert-file and --key-file"
    READABLE = "make it readable for this user"
    OTHER = "name another with --cert-file, --key-file or --ca-file"
    private_constant :VALID, :MATCHING, :READABLE, :OTHER

    `const fs = require("fs"), path = require("path"), crypto = require("crypto")`

    # @param tls [Hash{Symbol => String}] cert_file, key_file, ca_file, client_certificate
    # @raise [ConfigurationError] when a file is invalid
    def initialize(tls)
      @tls = tls
      certificate = parse(cert_file, "certificate") { |text| `new crypto.X509Certificate(text)` }
      key = parse(key_file, "unencrypted private key") { |text| `crypto.createPrivateKey(text)` }
      refuse("the key in #{key_file} does not match the certificate in #{cert_file}; #{MATCHING}") unless `certificate.checkPrivateKey(key)`
      parse(ca_file, "certificate") { |text| `new crypto.X509Certificate(text)` } unless ca_file.nil? || File.directory?(ca_file)
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
      Errno.translate { `fs.readFileSync(path, "utf8")` }
    rescue SystemCallError => e
      refuse("#{path} cannot be read: #{e.message}; #{Errno::EACCES === e ? READABLE : OTHER}")
    end

    def parse(path, what)
      text = read(path)
      begin
        yield text
      rescue Exception # rubocop:disable Lint/RescueException -- JavaScript's own
        refuse("#{path} holds no #{what} in PEM form; #{VALID}")
      end
    end

    def refuse(sentence)
      raise ConfigurationError, sentence
    end
  end
end
