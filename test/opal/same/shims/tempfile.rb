# frozen_string_literal: true

require "tempfile"
t = Tempfile.new(["a", ".png"]); t.write("hey"); t.rewind; p t.read, File.extname(t.path), t.size; q = t.path; t.close!; p File.exist?(q)
