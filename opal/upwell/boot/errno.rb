# backtick_javascript: true
# frozen_string_literal: true

# The operating system's errors, raised in place of Node's.
module Errno
  TEXTS = { "EPERM" => "Operation not permitted", "ENOENT" => "No such file or directory", "ESRCH" => "No such process",
            "EINTR" => "Interrupted system call", "EIO" => "Input/output error", "ENXIO" => "No such device or address",
            "E2BIG" => "Argument list too long", "EBADF" => "Bad file descriptor", "ECHILD" => "No child processes",
            "EAGAIN" => "Resource temporarily unavailable", "ENOMEM" => "Cannot allocate memory", "EACCES" => "Permission denied",
            "EBUSY" => "Device or resource busy", "EEXIST" => "File exists", "EXDEV" => "Invalid cross-device link",
            "ENODEV" => "No such device", "ENOTDIR" => "Not a directory", "EISDIR" => "Is a directory", "EINVAL" => "Invalid argument",
            "ENFILE" => "Too many open files in system", "EMFILE" => "Too many open files", "ETXTBSY" => "Text file busy",
            "EFBIG" => "File too large", "ENOSPC" => "No space left on device", "ESPIPE" => "Illegal seek",
            "EROFS" => "Read-only file system", "EMLINK" => "Too many links", "EPIPE" => "Broken pipe",
            "ENAMETOOLONG" => "File name too long", "ENOSYS" => "Function not implemented", "ENOTEMPTY" => "Directory not empty",
            "ELOOP" => "Too many levels of symbolic links", "EPROTO" => "Protocol error",
            "EOVERFLOW" => "Value too large for defined data type", "ENOTSOCK" => "Socket operation on non-socket",
            "EMSGSIZE" => "Message too long", "EPROTONOSUPPORT" => "Protocol not supported", "EOPNOTSUPP" => "Operation not supported",
            "EAFNOSUPPORT" => "Address family not supported by protocol", "EADDRINUSE" => "Address already in use",
            "EADDRNOTAVAIL" => "Cannot assign requested address", "ENETDOWN" => "Network is down",
            "ENETUNREACH" => "Network is unreachable", "ECONNABORTED" => "Software caused connection abort",
            "ECONNRESET" => "Connection reset by peer", "ENOBUFS" => "No buffer space available",
            "EISCONN" => "Transport endpoint is already connected", "ENOTCONN" => "Transport endpoint is not connected",
            "ETIMEDOUT" => "Connection timed out", "ECONNREFUSED" => "Connection refused", "EHOSTUNREACH" => "No route to host",
            "EALREADY" => "Operation already in progress", "EINPROGRESS" => "Operation now in progress", "ESTALE" => "Stale file handle",
            "EDQUOT" => "Disk quota exceeded" }.freeze

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
