# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  # Escapes text for HTML.
  module Escape
    %x(
      var ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
      var NAMED = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
      var like = (text, made) => Opal.is_bytes(text) ? Opal.new_bytes(made, text.encoding) : made;
    )

    def self.html(text)
      `like(text, text.valueOf().replace(/[&<>"']/g, (character) => ENTITIES[character]))`
    end

    def self.from_html(text)
      %x{
        return like(text, text.valueOf().replace(/&(?:(amp|lt|gt|quot|apos)|#(\d+)|#[xX]([0-9a-fA-F]+));/g, (all, name, decimal, hex) => {
          if (name) return NAMED[name];
          var code = decimal ? parseInt(decimal, 10) : parseInt(hex, 16);
          return code <= (Opal.is_bytes(text) ? 0x7f : 0x10ffff) ? String.fromCodePoint(code).toWellFormed() : all;
        }));
      }
    end
  end
end
