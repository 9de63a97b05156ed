# frozen_string_literal: true

require_relative "inherited_socket"

module Upwell
  class Server
    module Listening
      # Methods of {Listeners} for inherited sockets. The server serves on all of them. Without the setting `bind` it opens no other socket.
      # An address of `bind` that an inherited socket covers uses that socket, and gives it its TLS settings.
      module InheritedListening
        private

        # @return [Array<String>] the addresses of all sockets, inherited or not
        def all_binds(configuration)
          return configuration.bind if @inherited.empty?

          named = configuration.bind_given? ? configuration.bind : []
          @inherited.reject { |socket| named.any? { |bind| covers?(socket, bind) } }.map(&:bind) + named
        end

        def covers?(socket, bind)
          return socket.path?(UNIXAddress.new(bind).path) if UNIXAddress.match?(bind)

          host, port = host_and_port(bind)
          addresses(host).any? { |address| socket.covers?(Addrinfo.tcp(address, port)) }
        end

        # @return [Listeners::Listener, nil] the inherited socket at a path
        def inherited_unix(path)
          inherit(@inherited.find { |candidate| candidate.path?(path) })
        end

        # @param address [Addrinfo]
        # @return [Listeners::Listener, nil] the inherited socket that covers a TCP address
        def inherited_tcp(address)
          found = @inherited.find { |candidate| candidate.covers?(address) }
          found&.socket&.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, true)
          inherit(found)
        end

        # The service manager decides about the file of a UNIX socket: path and file number remain nil.
        def inherit(found)
          return unless found

          url = found.port ? url(found.socket.local_address) : found.bind
          Listeners::Listener.new(found.socket, url).tap { |listener| listener.inherited = true }
        end

        def inherited_ipv4?(port)
          @inherited.any? { |socket| socket.port == port && socket.ipv4? }
        end
      end
    end
  end
end
