# frozen_string_literal: true

require "tmpdir"
Dir.mktmpdir do |d|
  f = File.join(d, "x.txt")
  p File.write(f, "line1\nliné2\n"), File.read(f), File.binread(f).bytesize, File.size(f), File.file?(f), File.directory?(d)
  File.open(f, "a") { |io| io << "more" }
  p File.readlines(f, chomp: true), File.foreach(f).first
  File.open(f, "rb") { |io| io.seek(2); p io.read(3), io.pos, io.read.encoding, io.read, io.read(2) }
  begin; File.read(f + "no"); rescue SystemCallError => e; p e.class, e.is_a?(Errno::ENOENT); end
  p File.exist?(f), File.stat(f).size, File.mtime(f).class, File.extname(f), File.basename(f, ".txt")
  Dir.mkdir(File.join(d, "sub")); File.write(File.join(d, "sub", "y.rb"), ""); File.write(File.join(d, ".hid"), "")
  p Dir.children(d).sort, Dir.glob("#{d}/**/*").map { |q| q.delete_prefix(d) }.sort, Dir["#{d}/*.txt"].size, Dir.glob("**/*.{rb,txt}", base: d).sort
  File.unlink(f); p File.exist?(f)
end
p File.fnmatch("*.rb", "a.rb"), File.fnmatch?("**/x", "a/b/x", File::FNM_PATHNAME), File.expand_path("../a", "/x/y"), File.join("a", "/b")
p File.join("http://example.org", "/"), File.join("a", "b/", "/c"), File.join(["a", ["b"]], "c"), File.join("", "a")
