# frozen_string_literal: true

require "fileutils"
require "openssl"
require "tmpdir"

# Certificates for tests, made when a process first asks for them, in a folder that goes with it: none can have expired that is not meant to.
module Certificates
  HOUR = 3_600

  # A certificate and its key, and the files of both. `bundle` has them in one. `intermediates` lead to an authority that clients trust.
  Issued = Struct.new(:certificate, :key, :path, :key_path, :bundle, :intermediates)

  # Whoever signs others.
  class Authority
    # @return [Issued]
    attr_reader :own

    # @param signer [Authority, nil] nil: itself
    # @param until_seconds [Integer] how long its certificate is good for, from now
    def initialize(name, signer: nil, until_seconds: HOUR)
      @name = name
      extensions = ["basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign,digitalSignature"]
      @own = Certificates.make(name, "authority of #{name}", signer&.own, extensions, until_seconds: until_seconds)
      @chain = signer ? [@own.certificate] : []
    end

    # @return [String] PEM
    def path
      own.path
    end

    # @param hosts [Array<String>] the first is the common name, too
    # @param until_seconds [Integer] how long it is good for, from now
    # @param rsa [Boolean]
    # @return [Issued]
    def issue(*hosts, until_seconds: HOUR, rsa: false)
      names = hosts.map { |host| host.match?(/\A[\d.]+\z|:/) ? "IP:#{host}" : "DNS:#{host}" }.join(",")
      extensions = ["basicConstraints=CA:FALSE", "subjectAltName=#{names}"]
      Certificates.make("#{@name}-#{hosts.first.tr("*", "_")}", hosts.first, own, extensions, until_seconds: until_seconds, rsa: rsa)
        .tap { |issued| issued.intermediates = @chain }
    end

    # @param status [Integer]
    # @param until_seconds [Integer] how long it is good for, from now
    # @param signer [Issued] whose key signs it
    # @return [String] the path of an OCSP response that says that the certificate is good, or what its status is
    def vouch_for(issued, status: OpenSSL::OCSP::V_CERTSTATUS_GOOD, until_seconds: HOUR, signer: own)
      id = OpenSSL::OCSP::CertificateId.new(issued.certificate, own.certificate)
      answer = OpenSSL::OCSP::BasicResponse.new
      revoked = -HOUR if status == OpenSSL::OCSP::V_CERTSTATUS_REVOKED
      answer.add_status(id, status, 0, revoked, -HOUR, until_seconds, nil)
      answer.sign(signer.certificate, signer.key, [own.certificate])
      "#{issued.path}.ocsp".tap do |path|
        File.binwrite(path, OpenSSL::OCSP::Response.create(OpenSSL::OCSP::RESPONSE_STATUS_SUCCESSFUL, answer).to_der)
      end
    end
  end

  class << self
    # @return [Authority] that clients trust
    def authority
      @authority ||= Authority.new("trusted")
    end

    # @return [Authority] that nobody trusts
    def stranger
      @stranger ||= Authority.new("stranger")
    end

    # @return [Issued] for localhost
    def localhost
      @localhost ||= authority.issue("localhost", "127.0.0.1")
    end

    # @return [Array<String>] options of the commands
    def options(issued = localhost)
      ["--secure", "--cert-file", issued.path, "--key-file", issued.key_path]
    end

    # @return [String] a folder that is removed when the process ends
    def folder
      @folder ||= Dir.mktmpdir("certificates").tap do |folder|
        process = Process.pid
        Minitest.after_run { FileUtils.rm_rf(folder) if Process.pid == process }
      end
    end

    def make(file, name, signer, extensions, until_seconds: HOUR, rsa: false)
      key = rsa ? OpenSSL::PKey::RSA.new(2048) : OpenSSL::PKey::EC.generate("prime256v1")
      certificate = unsigned(name, key, until_seconds)
      certificate.issuer = (signer&.certificate || certificate).subject
      factory = OpenSSL::X509::ExtensionFactory.new(signer&.certificate || certificate, certificate)
      extensions.each { |extension| certificate.add_extension(factory.create_extension(*extension.split("=", 2))) }
      certificate.sign(signer&.key || key, "SHA256")
      write(file, certificate, key)
    end

    private

    def unsigned(name, key, until_seconds)
      OpenSSL::X509::Certificate.new.tap do |certificate|
        certificate.version = 2
        certificate.serial = OpenSSL::BN.rand(100)
        certificate.subject = OpenSSL::X509::Name.new([["O", "Tests"], ["CN", name]])
        certificate.public_key = key
        certificate.not_before = Time.now - (2 * HOUR)
        certificate.not_after = Time.now + until_seconds
      end
    end

    def write(file, certificate, key)
      path = File.join(folder, "#{file}-#{@made = @made.to_i + 1}")
      Issued.new(certificate, key, "#{path}.pem", "#{path}.key", "#{path}.both").tap do |issued|
        File.write(issued.path, certificate.to_pem)
        File.write(issued.key_path, key.private_to_pem, perm: 0o600)
        File.write(issued.bundle, certificate.to_pem + key.private_to_pem, perm: 0o600)
      end
    end
  end
end
