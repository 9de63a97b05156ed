# frozen_string_literal: true

require_relative "inherited_socket"

module Upwell
  class Server
    module Listening
      # Methods of {Listeners} for inherited sockets. The server serves on all of them. Without the setting `bind` it opens no other socket.
      # An address of `bind` uses the inherited sockets with that address, or else those that cover it, and gives them its TLS settings. Several
      # sockets may have one address: ReusePort= and BindToDevice=, see systemd.socket(5).
      module InheritedListening
        private

        # @return [Array<String>] the addresses of all sockets, inherited or not
        def all_binds(configuration)
          return configuration.bind if @inherited.empty?

          named = configuration.bind_given? ? configuration.bind : []
          (@inherited - named.flat_map { |bind| inherited_for(bind) }).map(&:bind).uniq + named
        end

        # @return [Array<InheritedSocket>]
        def inherited_for(bind)
          return sockets_of_path(UNIXAddress.new(bind).path) if UNIXAddress.match?(bind)

          host, port = host_and_port(bind)
          addresses(host).flat_map { |address| sockets_of(Addrinfo.tcp(address, port)) }
        end

        def sockets_of_path(path)
          @inherited.select { |socket| socket.path?(path) }
        end

        def sockets_of(address)
          equal = @inherited.select { |socket| socket.address?(address) }
          equal.empty? ? @inherited.select { |socket| socket.covers?(address) } : equal
        end

        # @param path [String]
        # @return [Array<Listeners::Listener>]
        def inherited_unix(path)
          sockets_of_path(path).map { |socket| inherit(socket) }
        end

        # @param address [Addrinfo]
        # @return [Array<Listeners::Listener>]
        def inherited_tcp(address)
          sockets_of(address).map do |found|
            found.socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, true)
            inherit(found)
          end
        end

        # The service manager decides about the file of a UNIX socket: path and file number remain nil.
        def inherit(found)
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
