# frozen_string_literal: true

require "set"
require "ostruct"

# A block with two parameters takes the one Array apart that a method gives it; a block with one parameter, and a lambda, get it whole.
PAIRS = [[1, 2], [3, 4], [3, 1], 5, [6, [7, 8]]].freeze
SMALL = [[1, 2], [3, 4]].freeze
MAP = { [1, 2] => [3, 4], "key" => ["value", 1] }.freeze

def show(name)
  result = yield
  result = result.to_a if result.is_a?(Enumerator) || result.is_a?(Enumerator::Lazy)
  puts "#{name}: #{result.inspect}"
rescue Exception => e # rubocop:disable Lint/RescueException -- what JavaScript raises is none of StandardError
  puts "#{name}: #{e.class}"
end

SEEN = []
def seen(*values) = SEEN << values

def seen_by(name)
  SEEN.clear
  show(name) do
    yield
    SEEN.dup
  end
end

ARRAY = %i[all? any? none? one? collect map flat_map collect_concat count cycle delete_if drop_while take_while each each_entry filter filter_map
           find detect find_all find_index index rindex group_by keep_if max_by min_by minmax_by partition reject reject! reverse_each select select!
           sort_by sum to_h uniq uniq! each_index chunk_while slice_when map! collect! sort_by! filter! product combination permutation
           each_slice each_cons each_with_index each_with_object chunk slice_before slice_after inject zip bsearch bsearch_index tally_by lazy fill
           each_child then tap yield_self].freeze
ARGUMENTS = { cycle: [1], combination: [1], permutation: [1], each_slice: [1], each_cons: [1], each_with_object: [[]], zip: [[1, 2, 3, 4, 5]] }.freeze
ARRAY.each do |name|
  next unless SMALL.respond_to?(name)

  more = ARGUMENTS.fetch(name, [])
  seen_by("Array##{name} |a, b|") { [[1, 2], [3, 4]].send(name, *more) { |a, b| seen(a, b) && [a, 2] } }
  seen_by("Array##{name} |a|") { [[1, 2], [3, 4]].send(name, *more) { |a| seen(a) && [a, 2] } }
  seen_by("Array##{name} |a, (b, c)|") { [[1, [2, 3]], 4].send(name, *more) { |a, (b, c)| seen(a, b, c) && 0 } }
  seen_by("Set##{name} |a, b|") { Set[[1, 2], [3, 4]].send(name, *more) { |a, b| seen(a, b) && [a, 2] } } if Set[1].respond_to?(name)
end

HASH = %i[all? any? none? count delete_if each each_pair each_key each_value filter filter_map find find_all flat_map group_by keep_if map max_by min_by
          partition reject reject! select select! sort_by sum to_h transform_keys transform_keys! transform_values transform_values! each_with_index
          each_entry detect collect each_with_object each_slice uniq inject reduce filter! to_set min_by minmax_by sum take_while drop_while].freeze
HASH.each do |name|
  more = { each_with_object: [[]], each_slice: [2], inject: [0], reduce: [0] }.fetch(name, [])
  [["|a, b|", proc { |a, b| seen(a, b) && [a, b] }], ["|a|", proc { |a| seen(a) && [a, 1] }], ["|*a|", proc { |*a| seen(*a) && [a, 1] }],
   ["|(a, b), c|", proc { |(a, b), c| seen(a, b, c) && [a, b] }]].each do |kind, block|
    seen_by("Hash##{name} #{kind}") { { [1, 2] => [3, 4], [5, 6] => [7, 8] }.send(name, *more, &block) }
  end
end

show("Hash#fetch") { MAP.fetch([8, 9]) { |a, b| [a, b] } }
show("Hash#fetch_values") { MAP.fetch_values([8, 9]) { |a, b| [a, b] } }
show("Hash#delete") { MAP.dup.delete([8, 9]) { |a, b| [a, b] } }
show("Array#delete") { [[1, 2]].delete([8, 9]) { |a, b| [a, b] } }
show("Array#fetch") { [].fetch(3) { |a, b| [a, b] } }
show("Array.new") { Array.new(2) { |a, b| [a, b] } }
show("Hash#merge") { { 1 => [1, 2] }.merge({ 1 => [3, 4] }) { |key, (a, b), (c, d)| [key.to_s, a, b, c, d] } }
show("Hash.new") { Hash.new { |_, (a, b)| [a, b] }[[1, 2]] }
show("Hash#to_h") { { a: 1 }.to_h { |key, value| [value, key.to_s] } }
show("Array#max") { SMALL.max { |(a, _), (b, _)| b <=> a } }
show("Array#sort") { SMALL.sort { |(a, _), (b, _)| b <=> a } }
show("then") { [1, 2].then { |a, b| [a, b] } }
show("tap") { [1, 2].tap { |a, b| seen(a, b) } && SEEN.last }
show("instance_exec") { Object.new.instance_exec([1, 2]) { |a, b| [a, b] } }
show("class_exec") { Class.new.class_exec([1, 2]) { |a, b| [a, b] } }
show("proc.call") { proc { |a, b| [a, b] }.call([1, 2]) }
show("proc.()") { proc { |a, b| [a, b] }.([1, 2]) }
show("proc[]") { proc { |a, b| [a, b] }[[1, 2]] }
show("proc.yield") { proc { |a, b| [a, b] }.yield([1, 2]) }
show("proc ===") { proc { |a, b| [a, b] } === [1, 2] }
show("proc.curry") { proc { |a, b| [a, b] }.curry[1][2] }
show("define_method") { Class.new { define_method(:m) { |a, b = nil| [a, b] } }.new.m([1, 2]) }
show("lambda") { SMALL.map(&->(pair) { pair }) }
show("lazy") { SMALL.lazy.map { |a, b| [b, a] }.select { |a, b| a && b }.first(2) }
show("lazy flat") { SMALL.lazy.flat_map { |a, b| [b, a] }.reject { |a| a == 1 }.take_while { |a| a }.to_a }
show("lazy filter_map") { SMALL.lazy.filter_map { |a, b| b if a }.to_a }
show("each_with_index") { SMALL.each_with_index.map { |(a, b), at| [a, b, at] } }
show("with_index") { SMALL.map.with_index(1) { |(a, b), at| [a, b, at] } }
show("with_object") { SMALL.each.with_object([]) { |(a, b), all| all << b << a } }
show("each_with_object") { MAP.each_with_object([]) { |(key, value), all| all << key << value } }
show("inject") { SMALL.inject([]) { |all, (a, b)| all + [b, a] } }
show("Enumerator") { Enumerator.new { |y| y << [1, 2] << [3, 4] }.map { |a, b| [b, a] } }
show("Enumerator yield") { Enumerator.new { |y| y.yield(1, 2) }.map { |a, b| [b, a] } }
show("to_enum") { SMALL.each_entry.map { |a, b| [b, a] } }
show("zip") { SMALL.zip([1, 2]).map { |(a, b), c| [a, b, c] } }
show("group_by") { SMALL.group_by { |a, _| a }.transform_values { |(a, b), c| [a, b, c] } }
show("Struct") { Struct.new(:a, :b).new([1, 2], [3, 4]).each.map { |a, b| [a, b] } }
show("Struct#each") { Struct.new(:a).new([1, 2]).then { |one| one.each { |a, b| seen(a, b) } } && SEEN.last }
show("Struct#select") { Struct.new(:a).new([1, 2]).select { |_, b| b } }
show("Struct#each_pair") { Struct.new(:a).new([1, 2]).each_pair.map { |name, (a, b)| [name.to_s, a, b] } }
show("Comparable") { [[2, 1], [1, 2]].minmax_by { |a, b| a * b } }
show("Array#sum") { SMALL.sum { |a, b| a * b } }
show("Array#to_h") { SMALL.to_h { |a, b| [b, a] } }
show("Array#each_slice") { SMALL.each_slice(2).map { |(a, b), (c, d)| [a, b, c, d] } }
show("Array#dig") { PAIRS.dig(4, 1, 0) }
show("catch") { catch(:x) { |a, b| [a.class, b] }.last }
show("loop") { SMALL.each { |a, b| break [a, b] } }
show("Kernel#Array") { Array([[1, 2]]).each { |a, b| seen(a, b) } && SEEN.last }
def gives = yield([1, 2])
def gives_two = yield([1, 2], 3)
def hands(&block) = block.call([1, 2])
def hands_on(&block) = gives(&block)
show("yield") { gives { |a, b| [a, b] } }
show("yield two") { gives_two { |a, b| [a, b] } }
show("yield optional") { gives { |a, b = 5| [a, b] } }
show("yield splat") { gives { |a, *b| [a, b] } }
show("yield one comma") { gives { |a,| a } }
show("hands") { hands { |a, b| [a, b] } }
show("hands_on") { hands_on { |a, b| [a, b] } }

# An exception in a block that runs with another self leaves the block its own.
class Keeper
  def block = proc { |fails| fails ? raise("no") : self.class.name }
end
block = Keeper.new.block
[["instance_exec", Object.new], ["class_exec", Class.new], ["instance_eval", Object.new]].each do |name, object|
  show("#{name} raises") { name == "instance_eval" ? object.instance_eval(&block) : object.send(name, true, &block) }
  show("#{name} afterwards") { block.call }
end
