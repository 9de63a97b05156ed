# frozen_string_literal: true

require "socket"

module Upwell
  class Server
    module Listening
      class Listeners
        # A listening socket with its URL. A UNIX socket also has an absolute path and a file number, which no other file gets while the
        # socket is open. A TLS listener has credentials, shared with all listeners of the same settings. An inherited socket belongs to the
        # service manager, see {InheritedSockets}. The index is the socket's position among those of its address (SO_REUSEPORT). A lent socket
        # belongs to another server during a hot restart.
        Listener = Struct.new(:socket, :url, :path, :file_number, :credentials, :inherited, :index, :lent) do
          # @return [TLSContext, nil]
          def context
            credentials&.context
          end

          # @return [String] for the log, in one encoding: in the locale C the command line has another one
          def description
            "#{url.b}#{" (inherited)" if inherited}".force_encoding(Encoding::UTF_8)
          end

          # @return [Boolean] whether all loops and workers share the socket
          def shared?
            !path.nil? || inherited || false
          end

          # Removes a UNIX socket's file, unless another server has the socket or has replaced the file.
          def remove
            File.unlink(path) if path && !lent && Listeners.file_number(path) == file_number
          rescue SystemCallError
            nil
          end

          # Makes the kernel refuse clients, in all processes that share the socket (see shutdown(2)). Clients of an inherited socket wait for
          # the next server.
          def refuse
            return if inherited || lent

            socket.shutdown(Socket::SHUT_RD)
          rescue SystemCallError
            nil # the socket refuses clients already
          end
        end
      end
    end
  end
end
