# frozen_string_literal: true

require "openssl"
require "resolv"
require "socket"

# What takes its time to answer, on threads of this process: requests by HTTP, with TLS and without, and on a UNIX socket; questions by DNS; and
# connections to other servers.
class SlowServer
  DELAY = 0.2 # seconds
  ANSWER = "HTTP/1.1 200 OK\r\nContent-Length: 8\r\nConnection: close\r\n\r\nanswered"

  def initialize(folder)
    @folder = folder
  end

  # @return [Integer] the port of what answers requests
  def http(delay: DELAY)
    server = TCPServer.new("127.0.0.1", 0)
    accept(server) { |client| answer(client, delay) }
    server.addr[1]
  end

  # @return [Integer]
  def tls
    server = TCPServer.new("127.0.0.1", 0)
    context = tls_context
    accept(server) do |client|
      secured = OpenSSL::SSL::SSLSocket.new(client, context).tap(&:accept)
      answer(secured, DELAY)
      secured.close
    end
    server.addr[1]
  end

  # @return [String] the path
  def unix
    path = File.join(@folder, "http.sock")
    accept(UNIXServer.new(path)) { |client| answer(client, DELAY) }
    path
  end

  # @return [Integer] the port of what says that every name is 127.0.0.1
  def dns
    socket = UDPSocket.new.tap { |udp| udp.bind("127.0.0.1", 0) }
    Thread.new do
      loop do
        question, (_, port) = socket.recvfrom(512)
        Thread.new { sleep(DELAY) && socket.send(dns_answer(question), 0, "127.0.0.1", port) }
      end
    end
    socket.addr[1]
  end

  # @param port [Integer] another server's
  # @return [Integer] the port by which that is reached late
  def late(port)
    server = TCPServer.new("127.0.0.1", 0)
    accept(server) do |client|
      sleep(DELAY)
      other = TCPSocket.new("127.0.0.1", port)
      back = Thread.new { copy(other, client) }
      copy(client, other)
      back.join
      other.close
    end
    server.addr[1]
  end

  private

  def accept(server)
    Thread.new do
      loop do
        Thread.new(server.accept) do |client|
          yield client
        rescue IOError, SystemCallError, OpenSSL::SSL::SSLError
          nil # it has left
        ensure
          client.close
        end
      end
    end
  end

  def answer(client, delay)
    nil until [nil, "\r\n"].include?(client.gets)
    sleep(delay)
    client.write(ANSWER)
  end

  def copy(source, target)
    IO.copy_stream(source, target)
  rescue SystemCallError
    nil # one of them has left
  ensure
    target.close_write unless target.closed?
  end

  def dns_answer(question)
    message = Resolv::DNS::Message.decode(question)
    message.qr = 1
    message.each_question { |name, kind| message.add_answer(name, 1, kind.new("127.0.0.1")) if kind == Resolv::DNS::Resource::IN::A }
    message.encode
  end

  def tls_context
    key = OpenSSL::PKey::RSA.new(2048)
    certificate = OpenSSL::X509::Certificate.new
    certificate.subject = certificate.issuer = OpenSSL::X509::Name.parse("/CN=localhost")
    certificate.public_key = key.public_key
    certificate.serial = 1
    certificate.not_before = Time.now - 60
    certificate.not_after = Time.now + 3600
    certificate.sign(key, "SHA256")
    OpenSSL::SSL::SSLContext.new.tap { |context| context.add_certificate(certificate, key) }
  end
end
