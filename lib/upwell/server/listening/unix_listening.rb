# frozen_string_literal: true

require "socket"

module Upwell
  class Server
    module Listening
      # Methods of {Listeners} that open UNIX sockets.
      module UNIXListening
        private

        def open_unix(address)
          path = address.path
          found = inherited_unix(path)
          found = handed_over_unix(path) if found.empty?
          return found if found.any?

          remove_stale(path)
          [unix_listener(listen_unix(address), path)]
        rescue SystemCallError, ArgumentError => e # ArgumentError is for a path that is too long
          reason = e.is_a?(ArgumentError) ? e.message : ErrnoText.of(e)
          raise ConfigurationError, "cannot listen on unix:#{path}: #{reason}; #{remedy}"
        end

        def remedy
          "choose another path with -b"
        end

        def unix_listener(socket, path)
          Listeners::Listener.new(socket, "#{BindAddress::UNIX}#{path}", File.absolute_path(path), Listeners.file_number(path))
        end

        # The kernel refuses clients until the socket listens. The file has its owner before that.
        def listen_unix(address)
          socket = Socket.new(:UNIX, :STREAM)
          address.with_umask { socket.bind(Socket.sockaddr_un(address.path)) }
          own(address) if address.user || address.group
          socket.listen(Listeners::BACKLOG)
          socket
        rescue SystemCallError, ArgumentError
          socket&.close
          raise
        end

        # The change must not follow a symbolic link that another process created meanwhile.
        def own(address)
          File.lchown(address.user, address.group, address.path)
        rescue SystemCallError => e
          File.unlink(address.path)
          raise ConfigurationError, "cannot listen on unix:#{address.path}: its user and group cannot be set: #{ErrnoText.of(e)}; " \
                                    "start as root, or name a group of this user"
        end

        # A killed server's socket is replaced. A socket with a listening process is kept.
        def remove_stale(path)
          return unless File.socket?(path)

          UNIXSocket.new(path).close
          raise ConfigurationError, "cannot listen on unix:#{path}: another server listens there; stop it, or #{remedy}"
        rescue Errno::ECONNREFUSED
          File.unlink(path)
        end
      end
    end
  end
end
