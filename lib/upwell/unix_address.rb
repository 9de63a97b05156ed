# frozen_string_literal: true

require_relative "users_and_groups"
require_relative "address_parameters"

module Upwell
  # The address of a UNIX socket with its permissions: `unix:PATH?mode=0660&user=NAME&group=NAME`.
  class UNIXAddress
    PREFIX = "unix:"
    NAMES = %w[mode user group].freeze
    MODE = /\A0?[0-7]{3}\z/
    ALL = 0o777

    # @return [String]
    attr_reader :path
    # @return [Integer, nil] the permissions; nil: the umask decides
    attr_reader :mode
    # @return [Integer, nil] the user id
    attr_reader :user
    # @return [Integer, nil] the group id
    attr_reader :group

    # @param text [String]
    def self.match?(text)
      text.start_with?(PREFIX)
    end

    # @param text [String]
    # @raise [ArgumentError] for an invalid address
    def initialize(text)
      @path, parameters = AddressParameters.split(text.delete_prefix(PREFIX), NAMES)
      raise ArgumentError, "must name a path after #{PREFIX}" if @path.empty?

      read(*parameters.values_at(*NAMES))
    end

    # Runs the block with a umask that gives the socket its permissions at creation, so that no other user can connect meanwhile.
    def with_umask
      return yield unless mode

      before = File.umask(ALL & ~mode)
      begin
        yield
      ensure
        File.umask(before)
      end
    end

    private

    def read(mode, user, group)
      raise ArgumentError, "must have a mode of three octal digits, such as 0660" unless mode.nil? || MODE.match?(mode)

      @mode = mode&.to_i(8)
      @user = user && UsersAndGroups.user(user)
      @group = group && UsersAndGroups.group(group)
    end
  end
end
