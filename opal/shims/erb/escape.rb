# frozen_string_literal: true

require "upwell/boot/html_escape"

class ERB
  # ERB's escaping methods, without templates.
  module Escape
    module_function

    def html_escape(text)
      Upwell::Escape.html(text.to_s)
    end
  end
end
