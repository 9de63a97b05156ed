# frozen_string_literal: true

require "securerandom"
require "socket"

module Upwell
  class Server
    # The folder in which the processes of a server meet, to tell each other published messages: this user's alone, with a short path, since the
    # addresses of UNIX sockets are short. Each server has one of its own, under $XDG_RUNTIME_DIR or else the folder for temporary files; what a
    # killed one has left is removed by one that starts later.
    #
    # Or the operator has named one (`pubsub`), for several servers and for other processes of this user: that one stays.
    #
    # Where there is none the server serves all the same, and what is published stays within the process.
    class BusDirectory
      PREFIX = "upwell-bus-"
      NAME = /\A#{PREFIX}(?<pid>\d{1,10})-\h{8}\z/
      MODE = 0o700
      YOUNG = 600 # seconds since a folder has changed: in another container its server may boot still
      WITHOUT = "published messages stay within each process"

      # Tells the operator when it cannot be made.
      #
      # @param configuration [Configuration] is told its path
      # @return [BusDirectory, nil] what is to be removed in the end
      # @raise [ConfigurationError] when it is named, and cannot be used
      def self.make(configuration, environment: ENV)
        configuration.bus = named(configuration)
        return if configuration.bus

        directory = new(environment)
        configuration.bus = directory.path
        directory
      rescue SystemCallError => e
        Log.tell("#{WITHOUT}: the folder in which they meet cannot be made: #{Reason.of(e)}; set TMPDIR")
        nil
      end

      # Makes it where there is none.
      #
      # @param configuration [Configuration]
      # @return [String, nil] the folder that the setting `pubsub` names, if it names one
      # @raise [ConfigurationError] when it cannot be used
      def self.named(configuration)
        path = configuration.pubsub
        return if path.nil? || PubSub::Redis::Address.match?(path)

        make_folder(path)
        wrong = wrong_with(path)
        wrong ? raise(ConfigurationError, "pubsub: #{path} #{wrong}") : path
      rescue SystemCallError => e
        raise ConfigurationError, "pubsub: #{path}: #{Reason.of(e)}"
      end

      # Of servers that start together one does it.
      def self.make_folder(path)
        Dir.mkdir(path, MODE) unless File.exist?(path)
      rescue Errno::EEXIST
        nil
      end
      private_class_method :make_folder

      # Nobody else has a part in it.
      def self.alone?(status)
        status.owned? && status.mode.nobits?(~MODE & 0o777)
      end
      private_class_method :alone?

      def self.wrong_with(path)
        status = File.lstat(path)
        return "is no folder" unless status.directory?
        return "must be this user's alone: chmod 700" unless alone?(status)

        most = Reactor::BUS_FOLDER_BYTES_MAX
        "is too long a path for the workers' sockets: at most #{most} bytes" if path.bytesize > most
      end
      private_class_method :wrong_with

      # Somebody may have cleaned up, or put something else there, or filled the disk.
      #
      # @param path [String, nil]
      # @return [String, nil] the path of a folder in which a process may still join the others
      def self.still_there(path)
        try(path) if path
        path
      rescue SystemCallError => e
        Log.tell("#{WITHOUT}: #{path}, where they meet, is of no use any more: #{Reason.of(e)}; restart the server")
        nil
      end

      # Raises what joining would, since a server that cannot join is to serve all the same.
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
        name = "#{PREFIX}#{@owner}-#{SecureRandom.hex(4)}"
        base = bases(environment).find { |candidate| usable?(candidate, name) } || "/tmp"
        remove_left_behind(base)
        @path = File.join(base, name)
        Dir.mkdir(@path, MODE)
        File.chmod(MODE, @path) # whatever the umask
      end

      # Removes it, unless this process was forked from the one that has made it.
      def remove
        empty(@path) if @owner == Process.pid
      end

      private

      # By the XDG Base Directory Specification, which has relative paths ignored.
      def bases(environment)
        environment.values_at("XDG_RUNTIME_DIR", "TMPDIR").select { |base| base&.start_with?("/") }
      end

      def usable?(base, name)
        File.directory?(base) && File.writable?(base) && base.bytesize + 1 + name.bytesize <= Reactor::BUS_FOLDER_BYTES_MAX
      end

      def remove_left_behind(base)
        Dir.each_child(base) do |child|
          pid = child.b[NAME, :pid] # bytes: names of others need not be text
          next unless pid && dead?(pid.to_i)

          path = File.join(base, child)
          empty(path) if left_behind?(path)
        end
      rescue SystemCallError
        nil # another does it, or nobody
      end

      # The process may be one of another container, which shares no more than the folder.
      def left_behind?(path)
        status = File.lstat(path)
        status.directory? && status.owned? && Time.now - status.mtime > YOUNG && nobody_listens?(path)
      end

      def nobody_listens?(path)
        Dir.each_child(path).none? { |child| listens?(File.join(path, child)) }
      rescue SystemCallError
        false
      end

      def listens?(path)
        socket = Socket.new(:UNIX, :STREAM)
        socket.connect_nonblock(Socket.sockaddr_un(path))
        true
      rescue Errno::ECONNREFUSED, Errno::ENOENT, ArgumentError
        false
      rescue SystemCallError
        true # as far as is known
      ensure
        socket&.close
      end

      def dead?(pid)
        Process.kill(0, pid)
        false
      rescue Errno::ESRCH
        true
      rescue SystemCallError, RangeError
        false
      end

      def empty(path)
        Dir.each_child(path) { |child| unlink(File.join(path, child)) }
        Dir.rmdir(path)
      rescue SystemCallError
        nil # somebody has put something else there
      end

      # A worker may remove its own.
      def unlink(path)
        File.unlink(path)
      rescue Errno::ENOENT
        nil
      end
    end
  end
end
