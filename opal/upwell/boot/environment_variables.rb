# backtick_javascript: true
# frozen_string_literal: true

# The environment of the process, with the methods of a Hash. An empty variable is kept; nil deletes a variable.
class << ENV
  include Enumerable

  def [](name)
    `process.env[#{text(name)}] ?? nil`
  end

  def []=(name, value)
    value.nil? ? delete(name) : `process.env[#{text(name)}] = #{text(value)}`
  end

  def key?(name)
    `Object.hasOwn(process.env, #{text(name)})`
  end

  def delete(name)
    value = self[name]
    `delete process.env[#{text(name)}]`
    value.nil? && block_given? ? yield(name) : value
  end

  def fetch(name, default = (none = true))
    value = self[name]
    return value unless value.nil?
    return yield(name) if block_given?

    none ? raise(KeyError.new("key not found: #{name.inspect}", receiver: self, key: name)) : default
  end

  def each(&block)
    return to_h.each unless block

    to_h.each(&block)
    self
  end

  def update(*hashes)
    hashes.each { |hash| hash.each { |name, value| self[name] = value } }
    self
  end

  def to_h(&block)
    pairs = keys.to_h { |name| [name, self[name]] }
    block ? pairs.to_h(&block) : pairs
  end

  %i[values values_at slice select filter reject except size length key value? has_value? dig assoc filter_map any? map invert].each do |name|
    define_method(name) { |*arguments, &block| to_h.__send__(name, *arguments, &block) }
  end

  alias store []=
  alias merge! update
  alias each_pair each
  alias has_key? key?
  alias include? key?
  alias member? key?
  alias to_hash to_h

  private

  def text(value)
    `Opal.coerce_to(value, #{String}, 'to_str').valueOf()`
  end
end
