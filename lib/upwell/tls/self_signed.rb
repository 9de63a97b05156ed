# frozen_string_literal: true

require "fileutils"
require "socket"

module Upwell
  module TLS
    # A development certificate with its key in the same file, in the user's data directory. It is created when there is none, or when the
    # existing one expires soon or names another host.
    class SelfSigned
      NAME = "localhost.pem"
      DAYS = 365
      DAYS_LEFT_MIN = 30
      SECONDS_A_DAY = 86_400
      EXTENSIONS = { "basicConstraints" => "critical,CA:FALSE", "keyUsage" => "critical,digitalSignature",
                     "extendedKeyUsage" => "serverAuth" }.freeze

      # @param environment [Hash{String => String}]
      def initialize(environment = ENV)
        @environment = environment
      end

      # @return [String] the path of the certificate
      # @raise [ConfigurationError] when the user has no directory for it
      def path
        File.join(folder, NAME)
      end

      # Creates the certificate if necessary. When several servers start together, one creates it and the others wait.
      #
      # @return [String] the path of the certificate
      # @raise [ConfigurationError] when the certificate cannot be created
      def ensure_file
        load_openssl
        FileUtils.mkdir_p(folder, mode: 0o700)
        File.open(folder) do |lock|
          lock.flock(File::LOCK_EX)
          write unless usable?
        end
        path
      rescue SystemCallError => e
        raise ConfigurationError, "cannot create the development certificate #{path}: #{ErrnoText.of(e)}; " \
                                  "set XDG_DATA_HOME to a directory that you own, or name a certificate with --cert-file"
      end

      private

      def load_openssl
        require "openssl"
      rescue LoadError => e
        raise ConfigurationError, "self_signed needs Ruby's openssl, which cannot be loaded (#{e.message}); " \
                                  "install what is missing, or name a certificate with --cert-file"
      end

      # The XDG Base Directory Specification says that relative paths are ignored.
      def folder
        data = @environment["XDG_DATA_HOME"].to_s
        return File.join(data, "upwell") if data.start_with?("/")

        home = @environment["HOME"].to_s
        return File.join(home, ".local", "share", "upwell") if home.start_with?("/")

        raise ConfigurationError, "self_signed: HOME is not set, so there is no directory for the certificate; set HOME or XDG_DATA_HOME"
      end

      # The empty password prevents OpenSSL from asking for a password at the terminal.
      def usable?
        text = File.read(path)
        certificate = OpenSSL::X509::Certificate.new(text)
        certificate.check_private_key(OpenSSL::PKey.read(text, "")) && names_this_machine?(certificate) &&
          certificate.not_before <= Time.now && certificate.not_after > Time.now + (DAYS_LEFT_MIN * SECONDS_A_DAY)
      rescue Errno::ENOENT, OpenSSL::OpenSSLError
        false
      end

      def names_this_machine?(certificate)
        names.all? { |name| OpenSSL::SSL.verify_certificate_identity(certificate, name) }
      end

      def names
        ["localhost", "127.0.0.1", "::1", host_name].compact.uniq
      end

      # The host name must be valid in a certificate.
      def host_name
        name = Socket.gethostname
        name if name.match?(/\A(?!-)[a-z0-9.-]{1,253}\z/i)
      end

      # The file is written completely or not at all, and other users can never read it.
      def write
        made = "#{path}.new"
        File.open(made, File::WRONLY | File::CREAT | File::TRUNC, 0o600) do |file|
          file.chmod(0o600) # other users may have had access to an old file
          file.write(pem)
          file.fsync
        end
        File.rename(made, path)
      rescue SystemCallError
        FileUtils.rm_f(made)
        raise
      end

      def pem
        key = OpenSSL::PKey::EC.generate("prime256v1")
        certificate = unsigned(key)
        certificate.sign(key, "SHA256")
        "#{certificate.to_pem}#{key.to_pem}"
      end

      def unsigned(key)
        OpenSSL::X509::Certificate.new.tap do |certificate|
          certificate.version = 2 # version 2 means X.509 v3 (RFC 5280, section 4.1.2.1)
          certificate.serial = OpenSSL::BN.rand(127)
          certificate.subject = certificate.issuer = OpenSSL::X509::Name.new([["O", "Upwell, for development"], ["CN", "localhost"]])
          certificate.public_key = key
          certificate.not_before = Time.now - SECONDS_A_DAY # clocks may differ
          certificate.not_after = Time.now + (DAYS * SECONDS_A_DAY)
          add_extensions(certificate)
        end
      end

      def add_extensions(certificate)
        factory = OpenSSL::X509::ExtensionFactory.new(certificate, certificate)
        alternatives = names.map { |name| name.match?(/:|\A[\d.]+\z/) ? "IP:#{name}" : "DNS:#{name}" }
        { **EXTENSIONS, "subjectAltName" => alternatives.join(",") }.each do |name, value|
          certificate.add_extension(factory.create_extension("#{name}=#{value}"))
        end
      end
    end
  end
end
