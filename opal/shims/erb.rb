# frozen_string_literal: true

require "erb/escape"
require "uri"

# Escaping; a template can be made, but not be run: there is no compiler where the program runs.
class ERB
  # Texts in HTML and in addresses.
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
    raise NotImplementedError, "a template of ERB cannot be run where the program runs: compile it before, or build the text in Ruby"
  end

  alias result_with_hash result
  alias run result
end
