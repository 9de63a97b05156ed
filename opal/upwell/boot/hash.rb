# backtick_javascript: true
# frozen_string_literal: true

# For blocks with several parameters, these methods take an Array key or value apart, as Opal's own do not. A Set is built on a Hash.
class Hash
  def each_key(&block)
    return enum_for(:each_key) { size } unless block

    keys.each(&block)
    self
  end

  def each_value(&block)
    return enum_for(:each_value) { size } unless block

    values.each(&block)
    self
  end

  alias value_or_default fetch

  def fetch(key, default = undefined)
    return value_or_default(key, default) if !block_given? || key?(key)

    yield key
  end

  alias hash_of_pairs to_h

  # The block receives key and value, not the pair.
  def to_h
    return hash_of_pairs unless block_given?

    pairs = []
    each_pair { |key, value| pairs << yield(key, value) }
    pairs.to_h
  end

  alias rename_keys transform_keys

  def transform_keys(names = nil)
    return rename_keys(*[names].compact) unless block_given?

    rename_keys(names) { |key| yield key }
  end

  alias rename_keys! transform_keys!

  def transform_keys!(names = nil)
    return rename_keys!(*[names].compact) unless block_given?

    rename_keys!(names) { |key| yield key }
  end

  def transform_values(&block)
    return enum_for(:transform_values) { size } unless block

    keys.zip(values.map(&block)).to_h
  end

  def transform_values!
    return enum_for(:transform_values!) { size } unless block_given?

    each_pair { |key, value| self[key] = yield(value) }
  end
end
