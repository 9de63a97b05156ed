# backtick_javascript: true
# frozen_string_literal: true

# Base64 on top of Buffer.
module Base64
  module_function

  def encode64(bytes)
    [bytes].pack("m")
  end

  def decode64(text)
    text.unpack1("m")
  end

  def strict_encode64(bytes)
    `Opal.to_buffer(bytes).toString('base64')`
  end

  def strict_decode64(text)
    text.unpack1("m0")
  end

  def urlsafe_encode64(bytes, padding: true)
    text = strict_encode64(bytes).tr("+/", "-_")
    padding ? text : text.delete("=")
  end

  def urlsafe_decode64(text)
    text = text.tr("-_", "+/")
    text = text.ljust((text.length + 3) & ~3, "=") if !text.end_with?("=") && text.length % 4 != 0
    strict_decode64(text)
  end
end
