# frozen_string_literal: true

require "erb/escape"
require "uri"

# ERB's escaping methods. A template can be created but not run, since the program has no compiler for it.
class ERB
  # Escapes text for HTML and for addresses.
  module Util
    def html_escape(text)
      Escape.html_escape(text)
    end

    def url_encode(text)
      URI.encode_uri_component(text.to_s).gsub("%7E", "~").gsub("*", "%2A")
    end

    alias h html_escape
    alias u url_encode
    module_function :h, :u, :html_escape, :url_encode
  end

  def self.version
    "0"
  end

  attr_reader :src

  def initialize(template, **)
    @src = template
  end

  def filename=(_path); end

  def result(*)
    raise NotImplementedError, "a JavaScript runtime cannot compile an ERB template: compile it beforehand, or build the text in Ruby"
  end

  alias result_with_hash result
  alias run result
end
