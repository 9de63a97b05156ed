# frozen_string_literal: true

# What is put among bytes: text that is not ASCII goes with ASCII alone, and makes text of it.
def show
  text = yield
  p [text, text.bytes, text.ascii_only? || text.encoding]
rescue Encoding::CompatibilityError => e
  p e.class
end

ASCII = "x-x".b
HIGH = "x\xFF".b
BYTES = "\xFE".b

class Told
  def initialize(text) = @text = text
  def to_s = @text
end

class Listed
  def initialize(*all) = @all = all
  def to_ary = @all
end

["é", "č", "ĊčļĀ", "€", "y", BYTES].each do |more|
  [ASCII, HIGH].each do |whole|
    show { whole.sub("x", more) }
    show { whole.gsub("x", more) }
    show { whole.gsub("x", "<\\0#{more}>") }
    show { whole.sub(/x/) { more } }
    show { whole.gsub(/x/) { more } }
    show { whole.gsub(/x/) { Told.new(more) } }
    show { whole.gsub("x", "x" => more) }
    show { whole.tr("x", more) }
    show { whole.ljust(6, more) }
    show { whole.rjust(6, more) }
    show { whole.sub("nowhere", more) }
    show { whole.dup.tap { |text| text.gsub!("x", more) } }
    show { [whole, more].join }
    show { [more, whole].join }
    show { [whole, more, "z"].join(", ") }
    show { [[whole], [more]].join }
    show { [Listed.new(whole), Listed.new(more)].join }
    show { [Told.new(whole), 1, more, nil].join("-") }
    show { [whole, "y", "z"].join(more) }
    show { [whole].join(more) }
    show { [whole, more] * "," }
  end
  show { ["a", more, :b, 1].join }
  show { ["é", more].join }
  show { String.new("aé").gsub("a", more) }
end

text = String.new
text << "x"
show { text.gsub("x", "é") }
show { "\xFF\xB5\xE9\xDFab".b.upcase }
show { "\xDE\xC9AB".b.downcase }
begin
  "x".b << 0x10D
rescue RangeError => e
  p e.message, "x".b << 0xFF
end
p %w[a b].join("-"), [1, 2].join, [].join, [["a", ["b"]], "c"].join(",")
all = ["a"]
all << all
begin
  all.join
rescue ArgumentError => e
  p e.class
end
