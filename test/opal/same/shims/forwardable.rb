# frozen_string_literal: true

require "forwardable"
class Shelf
  extend Forwardable

  def_delegators :@items, :size, :<<, :map
  def_delegator "self.class", :name, :kind
  def_delegator :@items, :first, :top
  instance_delegate %i[last] => :@items

  def initialize = @items = []
end
shelf = Shelf.new
shelf << 3 << 4
p shelf.size, shelf.kind, shelf.top, shelf.last, shelf.map { |one| one + 1 }
