# frozen_string_literal: true

require "securerandom"
require_relative "../../users_and_groups"
require_relative "bus_leftovers"

module Upwell
  class Server
    module Messaging
      # The directory in which the processes of a server exchange published messages. Only this user has access. The path is short, because
      # the addresses of UNIX sockets are short. Each server has its own directory under $XDG_RUNTIME_DIR or the directory for temporary files.
      # {BusLeftovers} removes the directory of a killed server.
      #
      # The setting `pubsub` can name a directory for several servers and other processes of this user. The server does not remove that one.
      #
      # Without a directory the server still serves, and published messages remain within the process.
      class BusDirectory
        MODE = 0o700

        # Creates the directory, and logs a warning when it cannot be created.
        #
        # @param configuration [Configuration] receives the path
        # @param owner [Array(Integer, Integer), nil] user and group, when the process becomes another user
        # @return [BusDirectory, nil] the directory that the server removes at exit
        # @raise [ConfigurationError] when the configured directory cannot be used
        def self.make(configuration, environment: ENV, owner: nil)
          configuration.bus = named(configuration, owner)
          return if configuration.bus

          environment = environment.to_h.slice("TMPDIR") if owner # $XDG_RUNTIME_DIR belongs to root
          directory = UsersAndGroups.as(owner) { new(environment) }
          configuration.bus = directory.path
          directory
        rescue SystemCallError => e
          Log.tell("published messages stay within each process, because the directory for them cannot be created: " \
                   "#{ErrnoText.of(e)}; set TMPDIR to a writable directory")
          nil
        end

        # Creates the configured directory if it does not exist.
        #
        # @param configuration [Configuration]
        # @return [String, nil] the directory that the setting `pubsub` names
        # @raise [ConfigurationError] when the directory cannot be used
        def self.named(configuration, owner = nil)
          path = configuration.pubsub
          return if path.nil? || PubSub::Redis::Address.match?(path)

          make_folder(path, owner)
          UsersAndGroups.as(owner) { refuse_wrong(path) }
          path
        rescue SystemCallError => e
          raise ConfigurationError, "pubsub: directory #{path} cannot be used: #{ErrnoText.of(e)}; name another directory"
        end

        # When several servers start together, one of them creates the directory.
        def self.make_folder(path, owner)
          return if File.exist?(path)

          Dir.mkdir(path, MODE)
          File.lchown(*owner, path) if owner
        rescue Errno::EEXIST
          nil
        end
        private_class_method :make_folder

        # The directory must belong to this user alone.
        def self.alone?(status)
          status.uid == Process.euid && status.mode.nobits?(~MODE & 0o777)
        end
        private_class_method :alone?

        def self.refuse_wrong(path)
          wrong = wrong_with(path)
          raise ConfigurationError, "pubsub: #{path} #{wrong}, or name another directory" if wrong
        end
        private_class_method :refuse_wrong

        def self.wrong_with(path)
          status = File.lstat(path)
          return "is not a directory; remove the file" unless status.directory?
          return "must belong to the user of the server alone; run chown and chmod 700 on it" unless alone?(status)

          most = Reactor::BUS_FOLDER_BYTES_MAX
          "is too long for the paths of sockets; shorten the path to #{most} bytes" if path.bytesize > most
        end
        private_class_method :wrong_with

        # Checks the directory again: it may have been removed or replaced, or the disk may be full.
        #
        # @param path [String, nil]
        # @return [String, nil] the path of a directory that a process can still join
        def self.still_there(path)
          try(path) if path
          path
        rescue SystemCallError => e
          Log.tell("published messages stay within this process, because their directory #{path} cannot be used: " \
                   "#{ErrnoText.of(e)}; restart the server")
          nil
        end

        # Raises the error that joining would raise: a server that cannot join still has to serve.
        def self.try(path)
          status = File.lstat(path)
          raise Errno::ENOTDIR unless status.directory?
          raise Errno::EPERM unless alone?(status)

          attempt = File.join(path, "#{SecureRandom.hex(8)}.try")
          File.new(attempt, File::CREAT | File::EXCL | File::WRONLY).close
          File.unlink(attempt)
        end
        private_class_method :try

        # @return [String]
        attr_reader :path

        # @param environment [Hash{String => String}]
        # @raise [SystemCallError]
        def initialize(environment = ENV)
          @owner = Process.pid
          name = "#{BusLeftovers::PREFIX}#{@owner}-#{SecureRandom.hex(4)}"
          base = bases(environment).find { |candidate| usable?(candidate, name) } || "/tmp"
          BusLeftovers.remove_old(base)
          @path = File.join(base, name)
          Dir.mkdir(@path, MODE)
          File.chmod(MODE, @path) # the umask may have removed bits
        end

        # Removes the directory, but not in a process that was forked from its creator.
        def remove
          BusLeftovers.empty(@path) if @owner == Process.pid
        end

        private

        # The XDG Base Directory Specification says that relative paths are ignored.
        def bases(environment)
          environment.values_at("XDG_RUNTIME_DIR", "TMPDIR").select { |base| base&.start_with?("/") }
        end

        def usable?(base, name)
          File.directory?(base) && File.writable?(base) && base.bytesize + 1 + name.bytesize <= Reactor::BUS_FOLDER_BYTES_MAX
        end
      end
    end
  end
end
