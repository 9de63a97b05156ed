# frozen_string_literal: true

require_relative "../../users_and_groups"

module Upwell
  class Server
    module System
      # Permanently drops root privileges once the sockets are open, in the supervisor and so in every worker, before the application is loaded.
      class Privileges
        ROOT = 0

        # @return [Array(Integer, Integer), nil] user and group of the server's files; nil: the user of this process
        attr_reader :owner

        # @param configuration [Configuration]
        # @raise [ConfigurationError] when the process may not become that user
        def initialize(configuration)
          @user = configuration.user
          @group = configuration.group
          @quiet = configuration.quiet
          check
          @owner = [uid, gid] if @user && !became?
        end

        # Becomes the configured user, or warns that the process runs as root.
        #
        # @raise [ConfigurationError] when the process cannot become that user
        def drop
          return warn_of_root unless @user

          become unless became?
          account&.then { |entry| ENV.update("HOME" => entry.dir, "USER" => entry.name, "LOGNAME" => entry.name) }
        rescue SystemCallError => e
          raise ConfigurationError, "option user: the process cannot switch to #{@user}: #{ErrnoText.of(e)}; " \
                                    "start the server with CAP_SETUID and CAP_SETGID, or remove --user"
        end

        private

        def become
          set_groups
          Process::GID.change_privilege(gid)
          Process::UID.change_privilege(uid)
          check_dropped
        end

        # In a hot restart the running server has switched the user already.
        def became?
          Process.euid != ROOT && Process.euid == uid && Process.egid == gid
        end

        def check
          raise ConfigurationError, "option group has no effect without a user; name one with --user" if @group && !@user
          return if @user.nil? || Process.euid == ROOT || became?

          raise ConfigurationError, "option user: only root can switch to another user; start as root, or remove --user"
        end

        def uid
          UsersAndGroups.user(@user)
        end

        def gid
          return UsersAndGroups.group(@group) if @group

          account&.gid || raise(ConfigurationError, "option user: #{@user} has no group; name one with --group")
        end

        # @return [Etc::Passwd, nil]
        def account
          Etc.getpwuid(uid)
        rescue ArgumentError
          nil
        end

        def set_groups
          account ? Process.initgroups(account.name, gid) : Process.groups = [gid]
        end

        # Neither root's user nor root's group can be restored.
        def check_dropped
          return if uid == ROOT

          [-> { Process::Sys.setuid(ROOT) }, -> { Process::Sys.seteuid(ROOT) }].each do |regain|
            regain.call
            raise ConfigurationError, "option user: the process can still become root, so the server exits; clear its secure bit " \
                                      "no-setuid-fixup (systemd: SecureBits=), or remove --user and let the service manager switch the user"
          rescue Errno::EPERM
            nil
          end
        end

        def warn_of_root
          Log.tell("the server runs as root; name another user with --user") if Process.euid == ROOT && !@quiet
        end
      end
    end
  end
end
