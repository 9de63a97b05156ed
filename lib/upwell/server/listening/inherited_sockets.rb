# frozen_string_literal: true

require "socket"

module Upwell
  class Server
    module Listening
      # Takes the listening sockets that the service manager passes to this process: socket activation, see sd_listen_fds(3).
      module InheritedSockets
        FIRST = 3 # SD_LISTEN_FDS_START
        VARIABLES = %w[LISTEN_FDS LISTEN_PID LISTEN_FDNAMES LISTEN_PIDFDID].freeze
        FAMILIES = [Socket::AF_INET, Socket::AF_INET6, Socket::AF_UNIX].freeze

        # Makes the passed descriptors close on exec. {.take} reports those that are not open.
        #
        # @param variables [Hash{String => String}]
        def self.close_on_exec(variables)
          return unless variables["LISTEN_PID"] == Process.pid.to_s

          variables["LISTEN_FDS"].to_i.clamp(0, Listeners::MAX).times do |index|
            IO.for_fd(FIRST + index, autoclose: false).close_on_exec = true
          rescue Errno::EBADF, ArgumentError
            next
          end
        end

        # Takes the sockets, and removes the variables from the environment: child processes have no such sockets.
        #
        # @param environment [Hash{String => String}]
        # @return [Array<InheritedSocket>]
        # @raise [ConfigurationError] when a descriptor is not a listening stream socket
        def self.take(environment = ENV)
          count, pid, names = VARIABLES.map { |name| environment.delete(name) }
          return [] unless count && this_process?(pid)

          names = names.to_s.scrub("?").split(":")
          Array.new(number(count)) { |index| socket(FIRST + index, names[index]) }
        end

        # A wrapper that starts the server as its child does not pass the sockets on.
        def self.this_process?(pid)
          return true if pid == Process.pid.to_s

          Log.tell("inherited sockets are not used: LISTEN_PID is #{pid || "missing"}, and this process is #{Process.pid}; " \
                   "let the wrapper start the server with exec")
          false
        end
        private_class_method :this_process?

        def self.number(text)
          number = Integer(text, 10, exception: false)
          return number if number&.between?(0, Listeners::MAX)

          raise ConfigurationError, "LISTEN_FDS must be a number from 0 to #{Listeners::MAX}, got #{text.inspect}; " \
                                    "correct the program that sets it"
        end
        private_class_method :number

        def self.socket(descriptor, name)
          fault = fault_of_descriptor(descriptor) || fault_of_socket(Socket.for_fd(descriptor))
          raise ConfigurationError, "the inherited descriptor #{descriptor}#{" (#{name})" if name} #{fault}" if fault

          InheritedSocket.new(prepared(Socket.for_fd(descriptor)))
        end
        private_class_method :socket

        # Another process that shares the socket may accept a client first, so accept(2) must not wait.
        def self.prepared(socket)
          socket.nonblock = true
          socket
        end
        private_class_method :prepared

        # @return [String, nil]
        def self.fault_of_descriptor(descriptor)
          "is not a socket; use ListenStream= in the .socket unit" unless IO.for_fd(descriptor, autoclose: false).stat.socket?
        rescue Errno::EBADF, ArgumentError # ArgumentError: Ruby itself has opened the descriptor
          "is not open; LISTEN_FDS must be the number of passed sockets"
        end
        private_class_method :fault_of_descriptor

        # @return [String, nil]
        def self.fault_of_socket(socket)
          socket.autoclose = false
          return "is not a stream socket; use ListenStream= in the .socket unit" unless option(socket, :TYPE) == Socket::SOCK_STREAM
          return "does not listen; set Accept=no in the .socket unit" if option(socket, :ACCEPTCONN).zero?

          "is neither TCP nor UNIX; use ListenStream=PORT or ListenStream=PATH" unless FAMILIES.include?(socket.local_address.afamily)
        end
        private_class_method :fault_of_socket

        def self.option(socket, name)
          socket.getsockopt(:SOCKET, name).int
        end
        private_class_method :option
      end
    end
  end
end
