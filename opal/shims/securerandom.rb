# backtick_javascript: true
# frozen_string_literal: true

# Random numbers and names for security purposes.
module SecureRandom
  class << self
    def random_bytes(count = 16)
      `Opal.from_buffer(require('node:crypto').randomBytes(count))`
    end

    alias bytes random_bytes

    def hex(count = 16)
      random_bytes(count).unpack1("H*")
    end

    def base64(count = 16)
      [random_bytes(count)].pack("m0")
    end

    def urlsafe_base64(count = 16, padding = false)
      text = base64(count).tr("+/", "-_")
      padding ? text : text.delete("=")
    end

    def uuid
      `require('node:crypto').randomUUID()`
    end

    def alphanumeric(count = 16, chars: [*"A".."Z", *"a".."z", *"0".."9"])
      Array.new(count) { chars[random_number(chars.size)] }.join
    end

    def random_number(limit = 0)
      return random_number(limit.last - limit.first + (limit.exclude_end? ? 0 : 1)) + limit.first if Range === limit
      return `require('node:crypto').randomInt(limit)` if Integer === limit && limit.positive?

      fraction = `require('node:crypto').randomBytes(6).readUIntBE(0, 6) / 281474976710656`
      Float === limit && limit.positive? && limit != 0 ? fraction * limit : fraction
    end

    alias rand random_number
  end
end
