# frozen_string_literal: true

require "etc"

module Upwell
  # Users and groups of the system, by name or number.
  module UsersAndGroups
    NUMBER = /\A\d{1,9}\z/

    # Finds a user (see getpwnam(3)).
    #
    # @param text [String] name or number
    # @return [Integer] the user id
    # @raise [ArgumentError] for a user that does not exist
    def self.user(text)
      NUMBER.match?(text) ? text.to_i : Etc.getpwnam(text).uid
    rescue ArgumentError
      raise ArgumentError, "must name an existing user of this machine"
    end

    # Runs the block with the rights of another user. The process must be root.
    #
    # @param owner [Array(Integer, Integer), nil] user and group; nil: no change
    def self.as(owner)
      return yield unless owner

      Process::Sys.setegid(owner.last)
      Process::Sys.seteuid(owner.first)
      yield
    ensure
      if owner
        Process::Sys.seteuid(0)
        Process::Sys.setegid(0)
      end
    end

    # Finds a group (see getgrnam(3)).
    #
    # @param text [String] name or number
    # @return [Integer] the group id
    # @raise [ArgumentError] for a group that does not exist
    def self.group(text)
      NUMBER.match?(text) ? text.to_i : Etc.getgrnam(text).gid
    rescue ArgumentError
      raise ArgumentError, "must name an existing group of this machine"
    end
  end
end
