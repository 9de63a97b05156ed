# backtick_javascript: true
# frozen_string_literal: true

require "digest"

# The parts of OpenSSL for sessions and signatures, on top of node:crypto: digests, HMAC, ciphers and comparison.
module OpenSSL
  VERSION = "3.0.0"
  OPENSSL_VERSION = "OpenSSL 3, of the runtime"
  OPENSSL_VERSION_NUMBER = 0x30000000

  OpenSSLError = Class.new(StandardError)

  # Some gems name keys without using them.
  module PKey
    PKeyError = Class.new(OpenSSLError)
    ECError = RSAError = PKeyError

    class PKey
      def self.new(*) = raise NotImplementedError, "JavaScript runtimes have no OpenSSL::PKey: sign and verify with a shared secret (HMAC)"
    end
    EC = Class.new(PKey)
    EC::Point = Class.new(PKey)
    EC::Group = Class.new(PKey)
    RSA = Class.new(PKey)
  end

  # A digest by name: OpenSSL::Digest.new("SHA256").
  class Digest < ::Digest::Base
    attr_reader :name

    def self.digest(name, text)
      new(name).update(text).digest
    end

    def self.hexdigest(name, text)
      new(name).update(text).hexdigest
    end

    def self.base64digest(name, text)
      new(name).update(text).base64digest
    end

    def initialize(name, text = nil)
      @name = name.is_a?(Digest) ? name.name : name.to_s.upcase.delete("-")
      super()
      update(text) if text
    end

    def digest(text = nil)
      text ? Digest.digest(@name, text) : super()
    end

    def dup
      Digest.new(@name).tap { |copy| `copy.hash = self.hash.copy()` }
    end

    %w[MD5 SHA1 SHA224 SHA256 SHA384 SHA512].each do |known|
      digest = ::Class.new(self) do
        define_method(:initialize) { |text = nil| super(known, text) }
        define_singleton_method(:digest) { |text| new(text).digest }
        define_singleton_method(:hexdigest) { |text| new(text).hexdigest }
        define_singleton_method(:base64digest) { |text| new(text).base64digest }
      end
      const_set(known, digest)
    end

    private

    def algorithm
      @name.downcase
    end
  end

  # A keyed authentication code (RFC 2104).
  class HMAC
    class << self
      def digest(digest, key, text)
        new(key, digest).update(text).digest
      end

      def hexdigest(digest, key, text)
        digest(digest, key, text).unpack1("H*")
      end

      def base64digest(digest, key, text)
        [digest(digest, key, text)].pack("m0")
      end
    end

    def initialize(key, digest)
      @key = key
      @digest = Digest.new(digest)
      @text = "".b
    end

    def update(text)
      @text += text.b
      self
    end

    alias << update

    def digest
      `var hmac = require('node:crypto').createHmac(#{@digest.name.downcase}, Opal.to_buffer(#{@key}))`
      `Opal.from_buffer(hmac.update(Opal.to_buffer(#{@text})).digest())`
    end

    def hexdigest
      digest.unpack1("H*")
    end

    alias to_s hexdigest
  end

  # A symmetric cipher, such as AES.
  class Cipher
    CipherError = ::Class.new(OpenSSLError)

    def self.ciphers
      `require('node:crypto').getCiphers()`
    end

    attr_reader :name
    attr_writer :key, :iv, :auth_tag, :auth_data, :padding, :iv_len

    def initialize(name)
      @name = name.downcase
      `self.info = require('node:crypto').getCipherInfo(#{@name})`
      raise OpenSSLError, "unsupported cipher algorithm (#{name})" if `self.info === undefined`
    end

    def encrypt
      @encrypts = true
      `self.cipher = undefined`
      self
    end

    def decrypt
      @encrypts = false
      `self.cipher = undefined`
      self
    end

    def reset
      `self.cipher = undefined`
      self
    end

    def key_len
      `self.info.keyLength`
    end

    def iv_len
      @iv_len || `self.info.ivLength || 0`
    end

    def block_size
      `self.info.blockSize || 1`
    end

    def authenticated?
      @name.end_with?("gcm") || @name.end_with?("poly1305")
    end

    def random_key
      self.key = random(key_len)
    end

    def random_iv
      self.iv = random(iv_len)
    end

    def update(text)
      failing { `Opal.from_buffer(#{started}.update(Opal.to_buffer(text)))` }
    end

    def final
      failing { `Opal.from_buffer(#{started}.final())` }
    end

    def auth_tag(length = 16)
      `Opal.from_buffer(self.cipher.getAuthTag())`.byteslice(0, length)
    end

    private

    def random(count)
      `Opal.from_buffer(require('node:crypto').randomBytes(count))`
    end

    def started
      start if `self.cipher === undefined`
      `self.cipher`
    end

    def start
      %x{
        var crypto = require('node:crypto'), options = #{authenticated?} ? { authTagLength: 16 } : undefined;
        var create = #{@encrypts} ? crypto.createCipheriv : crypto.createDecipheriv;
        self.cipher = create(#{@name}, Opal.to_buffer(#{@key}), #{iv_len} === 0 ? null : Opal.to_buffer(#{@iv}), options);
        if (#{@padding == 0}) self.cipher.setAutoPadding(false);
        if (!#{@encrypts} && #{!@auth_tag.nil?}) self.cipher.setAuthTag(Opal.to_buffer(#{@auth_tag}));
        if (#{!@auth_data.nil?}) self.cipher.setAAD(Opal.to_buffer(#{@auth_data}));
      }
    end

    def failing
      %x{
        try { return #{yield}; }
        catch (error) { #{raise CipherError, `String(error.message)`}; }
      }
    end
  end

  # Derives keys from passwords.
  module KDF
    def self.pbkdf2_hmac(password, salt:, iterations:, length:, hash:)
      digest = Digest.new(hash).name.downcase
      `var key = require('node:crypto').pbkdf2Sync(Opal.to_buffer(password), Opal.to_buffer(salt), iterations, length, digest)`
      `Opal.from_buffer(key)`
    end
  end

  # Random bytes.
  module Random
    def self.random_bytes(count)
      `Opal.from_buffer(require('node:crypto').randomBytes(count))`
    end
  end

  def self.fixed_length_secure_compare(one, other)
    raise ArgumentError, "inputs must be of equal length" unless one.bytesize == other.bytesize

    `require('node:crypto').timingSafeEqual(Opal.to_buffer(one), Opal.to_buffer(other))`
  end

  def self.secure_compare(one, other)
    fixed_length_secure_compare(::Digest::SHA256.digest(one), ::Digest::SHA256.digest(other)) && one == other
  end
end
