# backtick_javascript: true
# frozen_string_literal: true

require "upwell/boot/glob_pattern"

# Directories.
class Dir
  `var fs = require('fs'), paths = require('path')`

  class << self
    def pwd
      `process.cwd()`
    end

    alias getwd pwd

    def home(*)
      `require('os').homedir()`
    end

    def chdir(path)
      before = pwd
      Errno.translate(path) { `process.chdir(#{File.path_of(path)})` }
      return 0 unless block_given?

      begin
        yield path
      ensure
        chdir(before)
      end
    end

    def exist?(path)
      File.directory?(path)
    end

    def empty?(path)
      exist?(path) && children(path).empty?
    end

    def mkdir(path, mode = 0o777)
      Errno.translate(path) { `fs.mkdirSync(#{File.path_of(path)}, { mode: mode })` }
      0
    end

    def rmdir(path)
      Errno.translate(path) { `fs.rmdirSync(#{File.path_of(path)})` }
      0
    end

    alias delete rmdir
    alias unlink rmdir

    def children(path)
      Errno.translate(path) { `fs.readdirSync(#{File.path_of(path)})` }
    end

    def entries(path)
      [".", ".."] + children(path)
    end

    def each_child(path, &block)
      block ? children(path).each(&block) : children(path).each
    end

    def foreach(path, &block)
      block ? entries(path).each(&block) : entries(path).each
    end

    def glob(patterns, flags = 0, base: nil)
      found = Array(patterns).flat_map { |pattern| matches(pattern.respond_to?(:to_path) ? pattern.to_path : pattern, flags, base) }
      return found unless block_given?

      found.each { |path| yield path }
      nil
    end

    def [](*patterns, base: nil)
      glob(patterns.flatten, base: base)
    end

    private

    def matches(pattern, flags, base)
      glob = Upwell::GlobPattern.new(pattern, flags | File::FNM_PATHNAME | File::FNM_EXTGLOB)
      folder = glob.folder
      from = base ? File.join(base, folder) : folder
      beneath(from.empty? ? "." : from, folder).select { |path| glob.match?(path) }.sort
    end

    # Returns all paths below a directory, in the form to show.
    def beneath(folder, told)
      return [] unless exist?(folder)

      children(folder).flat_map do |name|
        path = told.empty? ? name : File.join(told, name)
        inner = File.join(folder, name)
        `fs.lstatSync(inner).isDirectory()` ? [path, *beneath(inner, path)] : [path]
      end
    end
  end
end
