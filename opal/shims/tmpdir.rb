# backtick_javascript: true
# frozen_string_literal: true

# The directory for temporary files, and temporary directories within it.
class Dir
  def self.tmpdir
    `require('os').tmpdir()`
  end

  def self.mktmpdir(prefix = "d", folder = nil)
    `var fs = require('fs')`
    path = `fs.mkdtempSync(#{File.join(folder || tmpdir, (prefix.is_a?(Array) ? prefix.first : prefix).to_s)})`
    return path unless block_given?

    begin
      yield path
    ensure
      `fs.rmSync(path, { recursive: true, force: true })`
    end
  end
end
