# frozen_string_literal: true

require "socket"

module Upwell
  class Server
    module Messaging
      # Removes the directories of killed servers. See {BusDirectory}.
      module BusLeftovers
        PREFIX = "upwell-bus-"
        NAME = /\A#{PREFIX}(?<pid>\d{1,10})-\h{8}\z/
        YOUNG = 600 # seconds since a directory has changed: its server may still boot in another container

        class << self
          # Removes old directories. A server calls this method at the start.
          #
          # @param base [String] the parent directory
          def remove_old(base)
            Dir.each_child(base) do |child|
              pid = supervisor_of(child)
              next unless pid && dead?(pid)

              path = File.join(base, child)
              empty(path) if left_behind?(path)
            end
          rescue SystemCallError
            nil # another process removes the directory
          end

          # Removes the directory of a killed supervisor. Each worker calls this method at exit, after its own socket is removed.
          #
          # @param configuration [Configuration]
          def remove_orphaned(configuration)
            path = configuration.bus
            return if path.nil? || path == configuration.pubsub

            pid = supervisor_of(File.basename(path))
            empty(path) if pid && pid != Process.ppid && nobody_listens?(path)
          end

          # Removes the sockets in a directory.
          #
          # @param path [String]
          def empty(path)
            Dir.each_child(path) { |child| unlink(File.join(path, child)) }
            Dir.rmdir(path)
          rescue SystemCallError
            nil # the directory contains a file of another program
          end

          private

          # Names of other programs may be invalid text, so this method matches bytes.
          def supervisor_of(name)
            name.b[NAME, :pid]&.to_i
          end

          # The process may run in another container that shares only the directory.
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
            true # the process cannot be seen, so it counts as alive
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

          # A worker may remove its own socket.
          def unlink(path)
            File.unlink(path)
          rescue Errno::ENOENT
            nil
          end
        end
      end
    end
  end
end
