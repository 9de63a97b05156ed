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
      Errno::ENFILE => "the system has reached its descriptor limit",
      Errno::EAGAIN => "the process limit is reached (ulimit -u)", Errno::ENOMEM => "memory is exhausted"
    }.freeze
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
      TEXTS.fetch(error.class) { error.message.sub(/ @ .*/m, "") } # without the name of Ruby's function
    end
  end
end
