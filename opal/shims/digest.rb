# backtick_javascript: true
# frozen_string_literal: true

# Digests on top of node:crypto.
module Digest
  # The methods of all digests.
  class Base
    class << self
      def digest(text)
        new.update(text).digest
      end

      def hexdigest(text)
        new.update(text).hexdigest
      end

      def base64digest(text)
        new.update(text).base64digest
      end

      def file(path)
        new.update(File.binread(path))
      end
    end

    def initialize
      reset
    end

    def reset
      `self.hash = require('node:crypto').createHash(#{algorithm})`
      self
    end

    def update(text)
      `self.hash.update(Opal.to_buffer(text))`
      self
    end

    alias << update

    def digest(text = nil)
      return self.class.digest(text) if text

      `Opal.from_buffer(self.hash.copy().digest())`
    end

    def hexdigest(text = nil)
      digest(text).unpack1("H*")
    end

    def base64digest(text = nil)
      [digest(text)].pack("m0")
    end

    def digest!
      digest.tap { reset }
    end

    def hexdigest!
      hexdigest.tap { reset }
    end

    def file(path)
      update(File.binread(path))
    end

    def digest_length
      digest.bytesize
    end

    alias length digest_length
    alias size digest_length

    def block_length
      ["sha384", "sha512"].include?(algorithm) ? 128 : 64
    end

    def name
      self.class.name
    end

    def dup
      self.class.allocate.tap { |copy| `copy.hash = self.hash.copy()` }
    end

    def ==(other)
      hexdigest == (other.is_a?(Base) ? other.hexdigest : other)
    end

    def to_s
      hexdigest
    end

    def inspect
      "#<#{self.class}: #{hexdigest}>"
    end

    private

    def algorithm
      self.class::ALGORITHM
    end
  end

  Class = Base
  Instance = Base

  { MD5: "md5", SHA1: "sha1", RMD160: "ripemd160", SHA256: "sha256", SHA384: "sha384", SHA512: "sha512" }.each do |name, algorithm|
    const_set(name, ::Class.new(Base)).const_set(:ALGORITHM, algorithm)
  end

  # SHA-2 with a length chosen at creation.
  class SHA2 < Base
    def initialize(bits = 256)
      raise ArgumentError, "unsupported bit length: #{bits}" unless [256, 384, 512].include?(bits)

      @bits = bits
      super()
    end

    def dup
      self.class.new(@bits).tap { |copy| `copy.hash = self.hash.copy()` }
    end

    private

    def algorithm
      "sha#{@bits}"
    end
  end

  def self.hexencode(bytes)
    bytes.unpack1("H*")
  end
end
