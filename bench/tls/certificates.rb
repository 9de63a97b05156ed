# frozen_string_literal: true

require "fileutils"
require "openssl"
require_relative "../lib/gem_installation"

module Bench
  module Tls
    # A self-signed certificate of this machine for all servers.
    #
    # @!attribute name [String]
    # @!attribute make_key [#call]
    Certificate = Struct.new(:name, :make_key) do
      def path
        File.join(FOLDER, "#{name}.crt")
      end

      def key_path
        File.join(FOLDER, "#{name}.key")
      end

      # Writes the files, unless they are there.
      def make
        return if File.exist?(path) && File.exist?(key_path)

        FileUtils.mkdir_p(FOLDER)
        key = make_key.call
        File.write(key_path, key.private_to_pem, perm: 0o600)
        File.write(path, sign(key).to_pem)
      end

      private

      def sign(key)
        certificate = OpenSSL::X509::Certificate.new
        certificate.version = 2
        certificate.serial = 1
        certificate.subject = certificate.issuer = OpenSSL::X509::Name.parse("/CN=localhost")
        certificate.public_key = key
        certificate.not_before = Time.now - 3600
        certificate.not_after = Time.now + (365 * 24 * 3600)
        certificate.add_extension(OpenSSL::X509::ExtensionFactory.new.create_extension("subjectAltName", "DNS:localhost,IP:127.0.0.1"))
        certificate.sign(key, OpenSSL::Digest.new("SHA256"))
      end
    end

    FOLDER = File.join(GemInstallation::CACHE, "tls")
    RSA = Certificate.new("rsa-2048", -> { OpenSSL::PKey::RSA.new(2048) })
    ECDSA = Certificate.new("ecdsa-p-256", -> { OpenSSL::PKey::EC.generate("prime256v1") })
  end
end
