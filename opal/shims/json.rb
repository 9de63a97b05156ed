# backtick_javascript: true
# frozen_string_literal: true

# JSON. An object becomes a Hash in the order of its text. Values without a JSON form, such as NaN, raise an error.
module JSON
  JSONError = Class.new(StandardError)
  ParserError = Class.new(JSONError)
  NestingError = Class.new(ParserError)
  GeneratorError = Class.new(JSONError)

  NESTING_MAX = 100
  PRETTY = { indent: "  ", space: " ", object_nl: "\n", array_nl: "\n" }.freeze
end

require "json/parser"
require "json/generator"

module JSON
  class << self
    def parse(source, options = nil)
      `Opal.parse_json(Opal.coerce_to(source, Opal.String, 'to_str'), #{options.to_h})`
    end

    def parse!(source, options = nil)
      parse(source, { allow_nan: true, max_nesting: false }.merge(options || {}))
    end

    def load(source, block = nil, options = nil)
      source = source.read if source.respond_to?(:read)
      return nil if source.nil? || source == ""

      value = parse!(source, options)
      block&.call(value)
      value
    end

    alias unsafe_load load
    alias restore load

    def load_file(path, options = nil)
      parse(File.read(path, encoding: "UTF-8"), options)
    end

    def generate(value, options = nil)
      `Opal.generate_json(value, #{options.to_h})`
    end

    alias unparse generate
    alias fast_generate generate

    def pretty_generate(value, options = nil)
      generate(value, PRETTY.merge(options.to_h))
    end

    alias pretty_unparse pretty_generate

    def dump(value, io = nil, *)
      text = generate(value, { allow_nan: true, max_nesting: false })
      return text unless io.respond_to?(:write)

      io.write(text)
      io
    end

    def [](value, options = nil)
      value.respond_to?(:to_str) ? parse(value.to_str, options) : generate(value, options)
    end
  end
end

module Kernel
  private

  def JSON(value, options = nil)
    JSON[value, options]
  end

  def j(*values)
    values.each { |value| puts JSON.generate(value) }
    nil
  end

  def jj(*values)
    values.each { |value| puts JSON.pretty_generate(value) }
    nil
  end
end
