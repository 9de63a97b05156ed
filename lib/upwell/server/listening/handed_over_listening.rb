# frozen_string_literal: true

require_relative "inherited_socket"

module Upwell
  class Server
    module Listening
      # Methods of {Listeners} for the sockets of a running server that this one replaces. A socket of the same address is used again, so the
      # clients in its accept queue are served. Each address may have several sockets, one for each worker of the running server.
      #
      # The running server owns the sockets until it hands them over, see {HotRestart}.
      module HandedOverListening
        private

        # @param address [Addrinfo] port 0 is any port
        # @return [Array<Listeners::Listener>] none, or the first one of the address
        def handed_over_tcp(address)
          first = @handed_over.find { |socket| socket.address?(with_port_of(socket, address)) }
          first ? [hand_over(claim { |socket| socket.address?(first.socket.local_address) })] : []
        end

        def with_port_of(socket, address)
          address.ip_port.zero? && socket.port ? Addrinfo.tcp(address.ip_address, socket.port) : address
        end

        # @param path [String]
        # @return [Array<Listeners::Listener>]
        def handed_over_unix(path)
          claim { |socket| socket.path?(path) }.map { |found| lent_unix(found, path) }
        end

        def lent_unix(found, path)
          return unix_listener(found.socket, path).tap { |listener| listener.lent = true } if found.file?(path)

          raise ConfigurationError, "the file of unix:#{path} is no longer the socket of the running server, and clients may wait there: " \
                                    "stop the server and start it again"
        end

        def claim(&block)
          claimed, @handed_over = @handed_over.partition(&block)
          claimed
        end

        def hand_over(sockets)
          listeners = sockets.each_with_index.map do |found, index|
            found.socket.setsockopt(*Listeners::REUSE_PORT) if @reuse_port
            Listeners::Listener.new(found.socket, url(found.socket.local_address)).tap do |listener|
              listener.index = index
              listener.lent = true
            end
          end
          @others[listeners.first.socket] = listeners.drop(1)
          listeners.first
        end

        # @return [Array<Listeners::Listener>] all existing ones of this listener's address
        def claimed(listener)
          others = @others.fetch(listener.socket, [])
          others.each { |other| secure(other, listener.credentials) } if listener.credentials
          [listener, *others]
        end

        # A new socket beside those of the running server must not get clients before this server is ready: it may never be. The kernel
        # distributes clients over the others until this server names its workers.
        #
        # @return [Boolean] whether the address can have more sockets; otherwise the sets share them
        def extensible?(known, count)
          return @reuse_port if known.size >= count || !known.first.lent

          Descriptor.steer(known.first.socket.fileno, [*0...known.size]) if @reuse_port
          @reuse_port
        rescue SystemCallError
          false
        end

        def refuse_unclaimed
          names = @handed_over.map(&:bind).uniq.join(", ")
          raise ConfigurationError, "the running server also listens on #{names}, and a hot restart cannot close an address without losing " \
                                    "clients; name the address with -b, or stop the server and start it again"
        end

        def refuse_many_of_each(count)
          raise ConfigurationError, "a worker can listen on at most #{Listeners::MAX} sockets, and of the running server's it would get " \
                                    "#{count}; start more workers, or stop the server and start it again"
        end
      end
    end
  end
end
