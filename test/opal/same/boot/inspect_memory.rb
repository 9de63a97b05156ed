# backtick_javascript: true
# What inspect keeps of a text is no more than the piece that it was told of.

BODIES = 100
BYTES = 1_000_000
MOST = 50_000_000 # on the heap, a part of what has been read

def used
  return 0 unless RUBY_ENGINE == "opal"

  `require("v8").setFlagsFromString("--expose-gc"), require("vm").runInNewContext("gc")(), process.memoryUsage().heapUsed`
end

before = used
lengths = Array.new(BODIES) do |i|
  body = "a_name_of_some_length_#{i}=a_value_of_some_length_#{i}&#{"x" * BYTES}"
  pair = body.split("&").first.split("=", 2)
  [pair].to_h.inspect.size
end
p lengths.sum
p used - before < MOST
