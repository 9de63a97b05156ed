# frozen_string_literal: true

require_relative "certificates"
require_relative "raw_client"

# The same client through TLS, which trusts Certificates.authority.
class TLSClient < RawClient
  # @return [OpenSSL::SSL::SSLSocket] one that is connected, and verified
  def self.connect(port, **settings)
    new(port, **settings).socket
  end

  def self.open(port, **settings)
    client = new(port, **settings)
    yield client
  ensure
    client&.close
  end

  # @return [Response] to one request on a connection of its own
  def self.request(port, text, **settings)
    open(port, **settings) do |client|
      client.write(text)
      client.response
    end
  end

  def self.get(port, path, **settings)
    request(port, "GET #{path} HTTP/1.1\r\nHost: test\r\n\r\n", **settings)
  end

  # @return [Hash] the env that test/support/app.ru saw
  def self.env(port, **settings)
    JSON.parse(get(port, "/env", **settings).body)
  end

  # @param name [String, nil] SNI
  # @param certificate [Certificates::Issued, nil] the client's
  # @param session [OpenSSL::SSL::Session, nil] to be resumed
  # @param settings [Hash{Symbol => Object}] of the context: alpn_protocols, max_version
  # @yieldparam session [OpenSSL::SSL::Session] each that the server gives a ticket for
  def initialize(port, name: "localhost", certificate: nil, session: nil, ahead: nil, **settings, &ticket)
    super(port, ahead: ahead)
    @tcp = @socket
    @socket = OpenSSL::SSL::SSLSocket.new(@tcp, context(certificate, settings, ticket))
    @socket.sync_close = true
    @socket.hostname = name if name
    @socket.session = session if session
    within_time { @socket.connect }
    @socket.post_connection_check(name) if name
  rescue StandardError
    @tcp&.close
    raise
  end

  # @return [TCPSocket] below TLS
  attr_reader :tcp

  private

  def context(certificate, settings, ticket)
    OpenSSL::SSL::SSLContext.new.tap do |context|
      context.set_params(ca_file: Certificates.authority.path, verify_hostname: false, **settings)
      context.add_certificate(certificate.certificate, certificate.key, certificate.intermediates) if certificate
      context.session_cache_mode = OpenSSL::SSL::SSLContext::SESSION_CACHE_CLIENT
      context.session_new_cb = ->((_, session)) { ticket.call(session) } if ticket
    end
  end
end
