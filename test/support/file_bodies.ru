# frozen_string_literal: true

require "rack/files"
require_relative "interpreter_lock_holder"

# Files by Rack::Files, from the folder that the environment variable FOLDER names, and bodies of files with claims of their own.

FOLDER = ENV.fetch("FOLDER")

# A file, and what `each` gives of it, which must be the same (Rack SPEC).
FileBody = Struct.new(:to_path, :bytes) do
  def each
    yield File.binread(to_path, bytes)
  end
end

# Tells the length before the file becomes shorter.
def cut_before_it_is_opened
  path = File.join(FOLDER, "cut_early.bin")
  File.binwrite(path, "a" * 1000)
  body = FileBody.new(path)
  body.define_singleton_method(:to_path) { File.truncate(path, 10) && path }
  [200, { "content-length" => "1000" }, body]
end

ANSWERS = {
  "/holds" => -> { [200, {}, ["holds"]] },
  "/cut_early" => -> { cut_before_it_is_opened },
  "/part_of_file" => -> { [206, { "content-length" => "4", "content-range" => "bytes 0-3/10" }, FileBody.new(File.join(FOLDER, "a.txt"), 4)] },
  "/part_too_long" => -> { [206, { "content-length" => "4", "content-range" => "bytes 0-3/10" }, FileBody.new(File.join(FOLDER, "a.txt"))] },
  "/empty" => -> { [200, { "x-own" => "yes" }, FileBody.new(File.join(FOLDER, "empty.css"))] },
  "/own" => -> { [203, { "x-own" => "yes", "content-type" => "own/type" }, FileBody.new(File.join(FOLDER, "a.txt"))] }
}.freeze
FILES = Rack::Files.new(FOLDER)

use InterpreterLockHolder
run ->(env) { ANSWERS.key?(env["PATH_INFO"]) ? ANSWERS[env["PATH_INFO"]].call : FILES.call(env) }
