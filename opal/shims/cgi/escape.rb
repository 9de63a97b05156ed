# frozen_string_literal: true

require "uri"
require "upwell/boot/html_escape"

# Escapes text for addresses and for HTML.
class CGI
  # The methods that CGI itself has, as a module to include.
  module Util
    def escape(text)
      URI.encode_www_form_component(text).gsub("%7E", "~").gsub("*", "%2A")
    end

    def unescape(text, encoding = Encoding::UTF_8)
      text.tr("+", " ").b.gsub(/%\h\h/) { |code| code[1, 2].hex.chr.b }.force_encoding(encoding)
    end

    def escape_uri_component(text)
      escape(text).gsub("+", "%20")
    end

    def unescape_uri_component(text, encoding = Encoding::UTF_8)
      text.b.gsub(/%\h\h/) { |code| code[1, 2].hex.chr.b }.force_encoding(encoding)
    end

    def escape_html(text)
      Upwell::Escape.html(text.to_str)
    end

    def unescape_html(text)
      Upwell::Escape.from_html(text)
    end

    alias escapeURIComponent escape_uri_component
    alias unescapeURIComponent unescape_uri_component
    alias escapeHTML escape_html
    alias unescapeHTML unescape_html
    alias h escape_html
  end

  Escape = Util
  include Util
  extend Util
end
