# frozen_string_literal: true

module Upwell
  # Why the system refused something, for the operator.
  module Reason
    TEXTS = {
      Errno::ENOENT => "there is no such file or folder", Errno::EISDIR => "it is a folder", Errno::ENOTDIR => "a part of the path is no folder",
      Errno::EACCES => "this user may not do so", Errno::EPERM => "this user may not do so", Errno::ENOSPC => "the disk is full",
      Errno::EROFS => "the file system can only be read", Errno::EADDRINUSE => "there is a file of this name",
      Errno::EEXIST => "there is a file of this name",
      Errno::EMFILE => "the process may have no more descriptors (ulimit -n)", Errno::ENFILE => "the machine may have no more descriptors",
      Errno::EAGAIN => "there may be no more processes (ulimit -u)", Errno::ENOMEM => "there is not enough memory"
    }.freeze
    # What the system has none of now, and may have later.
    LACKS = [Errno::EMFILE, Errno::ENFILE, Errno::EAGAIN, Errno::ENOMEM, ThreadError].freeze

    # @param error [Exception, nil]
    # @return [Boolean] whether it tells of one of these
    def self.lack?(error)
      LACKS.any? { |kind| error.is_a?(kind) }
    end

    # @param error [SystemCallError, ThreadError]
    # @return [String]
    def self.of(error)
      TEXTS.fetch(error.class) { error.message.sub(/ @ .*/m, "") } # without the name of Ruby's function
    end
  end
end
