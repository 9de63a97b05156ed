# backtick_javascript: true
# frozen_string_literal: true

# The methods of FileUtils that create directories and remove files.
module FileUtils
  `const fs = require("fs")`

  def self.mkdir_p(paths, mode: 0o777, **)
    Array(paths).each { |path| `fs.mkdirSync(#{path.to_s}, { recursive: true, mode: mode })` }
  end

  def self.rm_f(paths, **)
    Array(paths).each { |path| `fs.rmSync(#{path.to_s}, { force: true })` }
  end

  def self.rm_rf(paths, **)
    Array(paths).each { |path| `fs.rmSync(#{path.to_s}, { force: true, recursive: true })` }
  end
end
