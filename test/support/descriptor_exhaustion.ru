# frozen_string_literal: true

# GET /open tells how many descriptors the application gets; GET /file sends a file while it has all that there are;
# after GET /keep it has all but some, until GET /give_back.
TAKE = lambda do
  opened = []
  loop { opened << IO.sysopen(__FILE__) }
rescue Errno::EMFILE
  opened
end

GIVE_BACK = ->(opened) { opened.each { |fd| IO.for_fd(fd).close }.size }

# A file that is sent while descriptors are short.
ShortFile = Struct.new(:to_path, :opened) do
  def each
    yield File.binread(to_path)
  end

  def close
    GIVE_BACK.call(opened)
  end
end

FILE = lambda do
  length = File.size(__FILE__).to_s
  [200, { "content-length" => length }, ShortFile.new(__FILE__, TAKE.call)]
end

SOME = 3
KEPT = [] # rubocop:disable Style/MutableConstant

KEEP = lambda do
  KEPT.concat(TAKE.call)
  GIVE_BACK.call(KEPT.pop(SOME))
end

ANSWERS = {
  "/open" => -> { [200, {}, [GIVE_BACK.call(TAKE.call).to_s]] },
  "/file" => FILE,
  "/keep" => -> { [200, {}, [KEEP.call.to_s]] },
  "/give_back" => -> { [200, {}, [GIVE_BACK.call(KEPT.pop(KEPT.size)).to_s]] }
}.freeze

run ->(env) { ANSWERS.fetch(env["PATH_INFO"], -> { [200, {}, ["here"]] }).call }
