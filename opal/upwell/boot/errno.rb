# backtick_javascript: true
# frozen_string_literal: true

# The operating system's errors, raised in place of Node's.
module Errno
  TEXTS = { "ENOENT" => "No such file or directory", "EACCES" => "Permission denied", "EEXIST" => "File exists", "EISDIR" => "Is a directory",
            "ENOTDIR" => "Not a directory", "EINVAL" => "Invalid argument", "ENOTEMPTY" => "Directory not empty", "EPIPE" => "Broken pipe",
            "ENOSPC" => "No space left on device", "ECONNRESET" => "Connection reset by peer", "ECONNREFUSED" => "Connection refused",
            "EADDRINUSE" => "Address already in use", "EPERM" => "Operation not permitted", "ENAMETOOLONG" => "File name too long",
            "EMFILE" => "Too many open files", "ELOOP" => "Too many levels of symbolic links", "EBADF" => "Bad file descriptor" }.freeze

  numbers = `require('os').constants.errno`

  `Object.keys(numbers)`.each do |name|
    next if const_defined?(name, false)

    error = Class.new(SystemCallError) do
      define_method(:initialize) { |text = nil| super([TEXTS[name] || name, text].compact.join(" - ")) }
      define_method(:errno) { `numbers[name]` }
    end
    error.const_set(:Errno, `numbers[name]`)
    const_set(name, error)
  end

  # Runs a block, and converts Node's errors to Ruby's.
  def self.translate(path = nil)
    %x{
      try { return #{yield}; }
      catch (error) {
        if (error && error.code && error.syscall && #{const_defined?(`error.code`)}) {
          #{raise const_get(`error.code`), path};
        }
        throw error;
      }
    }
  end
end
