# frozen_string_literal: true

module Upwell
  # Error texts for system call failures, for messages to the operator.
  module ErrnoText
    TEXTS = {
      Errno::ENOENT => "no such file or directory", Errno::EISDIR => "it is a directory",
      Errno::ENOTDIR => "a part of the path is not a directory",
      Errno::EACCES => "permission denied", Errno::EPERM => "permission denied", Errno::ENOSPC => "the disk is full",
      Errno::ELOOP => "it is a symbolic link",
      Errno::EROFS => "the file system is read-only", Errno::EADDRINUSE => "a file with this name exists already",
      Errno::EEXIST => "a file with this name exists already",
      Errno::EMFILE => "the process has reached its descriptor limit (ulimit -n)",
      Errno::ENFILE => "the system has reached its descriptor limit (sysctl fs.file-max)",
      Errno::EAGAIN => "the process limit is reached (ulimit -u, or that of the container)", Errno::ENOMEM => "memory is exhausted",
      Errno::EPIPE => "the program that reads it has ended", Errno::ENXIO => "no program reads from it",
      Errno::ENAMETOOLONG => "the name is too long", Errno::EIO => "the device reports an error", Errno::EDQUOT => "the disk quota is used up"
    }.freeze
    NO_THREAD = "can't create Thread" # how the message of such a ThreadError begins
    # Errors for resources that the system lacks now, and may have later.
    LACKS = [Errno::EMFILE, Errno::ENFILE, Errno::EAGAIN, Errno::ENOMEM, ThreadError].freeze

    # Checks whether an error may be temporary.
    #
    # @param error [Exception, nil]
    # @return [Boolean] whether the error reports a temporary lack of resources
    def self.lack?(error)
      LACKS.any? { |kind| error.is_a?(kind) }
    end

    # Describes a system call failure.
    #
    # @param error [SystemCallError, ThreadError]
    # @return [String]
    def self.of(error)
      return TEXTS.fetch(Errno::EAGAIN) if error.message.start_with?(NO_THREAD)

      TEXTS.fetch(error.class) { error.message.sub(/ @ .*/m, "") } # without the name of Ruby's function
    end
  end
end
