# frozen_string_literal: true

require "socket"
require_relative "../listening/inherited_socket"

module Upwell
  class Server
    module HotRestart
      # The running server, as the new one sees it: it passes its listening sockets, and drains once the new server is ready.
      class Predecessor
        VARIABLE = "UPWELL_HANDOVER" # descriptors: of the report; of the service manager's sockets; of the server's own sockets
        READY = "ready\n"
        YOURS = "yours\n"

        # Takes the descriptors of a running server from the environment, if there is one. The process continues as a child process of the
        # service manager: systemd does not wait for the end of other processes.
        #
        # @param environment [Hash{String => String}]
        # @return [Predecessor, nil]
        # @raise [ConfigurationError] when a descriptor is not open
        def self.take(environment = ENV)
          text = environment.delete(VARIABLE)
          return unless text

          report, *sockets = text.split(";", -1).map { |list| list.split(",").map { |described| listening_socket(described) } }
          exit!(0) if Process.fork
          new(UNIXSocket.for_fd(report.first.socket.fileno), *sockets)
        end

        def self.listening_socket(described)
          number, *file_number = described.split(":")
          Listening::InheritedSocket.new(socket(number), file_number.map(&:to_i))
        end
        private_class_method :listening_socket

        def self.socket(number)
          Socket.for_fd(Integer(number, 10)).tap do |socket|
            socket.autoclose = false
            socket.close_on_exec = true
          end
        rescue SystemCallError, ArgumentError
          raise ConfigurationError, "#{VARIABLE} names the descriptor #{number}, which is not open; remove this variable from the environment"
        end
        private_class_method :socket

        # @return [Array<Listening::InheritedSocket>] sockets of the service manager
        attr_reader :kept
        # @return [Array<Listening::InheritedSocket>] sockets that the running server has opened
        attr_reader :own

        # @param report [UNIXSocket]
        # @param kept [Array<Listening::InheritedSocket>]
        # @param own [Array<Listening::InheritedSocket>]
        def initialize(report, kept, own)
          @report = report
          @kept = kept
          @own = own
          tell("#{Process.pid}\n")
        end

        # @return [Array<IO>] descriptors that a child process closes
        def ends
          [@report].reject(&:closed?)
        end

        # Reports that this server is ready, and waits until the running one has given up the sockets.
        #
        # @raise [ConfigurationError] when the running server has ended
        def replace
          tell(READY)
          refuse unless @report.gets == YOURS
          @report.close
        rescue SystemCallError
          refuse
        end

        private

        # An error shows when the server is ready.
        def tell(text)
          @report.write(text)
        rescue SystemCallError
          nil
        end

        def refuse
          raise ConfigurationError, "the running server ended before this one was ready; start the server again"
        end
      end
    end
  end
end
