# frozen_string_literal: true

# For blocks with several parameters, these methods take elements apart: reject { |name, value| … }. Opal passes the element whole.
class Array
  def reject
    return enum_for(:reject) { size } unless block_given?

    kept = []
    each { |value| kept.push(value) unless yield(value) }
    kept
  end

  def delete_if
    return enum_for(:delete_if) { size } unless block_given?

    kept = []
    each { |value| kept.push(value) unless yield(value) }
    replace(kept)
  end

  def reject!(&block)
    return enum_for(:reject!) { size } unless block

    before = size
    delete_if(&block)
    size == before ? nil : self
  end

  def keep_if
    return enum_for(:keep_if) { size } unless block_given?

    delete_if { |value| !yield(value) }
  end

  def select!(&block)
    return enum_for(:select!) { size } unless block

    before = size
    keep_if(&block)
    size == before ? nil : self
  end

  alias filter! select!

  alias sorted sort

  # The result is a new Array, even for one element.
  def sort(&block)
    size < 2 ? dup : sorted(&block)
  end

  alias delete_or_nil delete

  def delete(value)
    return delete_or_nil(value) if !block_given? || include?(value)

    yield value
  end

  def take_while
    return enum_for(:take_while) unless block_given?

    each_with_index { |value, at| return first(at) unless yield(value) }
    dup
  end

  alias index_of index

  def index(*values)
    return index_of(*values) unless block_given?

    each_with_index { |value, at| return at if yield(value) }
    nil
  end

  alias find_index index
  alias rindex_of rindex

  def rindex(*values)
    return rindex_of(*values) unless block_given?

    (size - 1).downto(0) { |at| return at if yield(self[at]) }
    nil
  end
end
