# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/tls_client"

# What a reactor's sockets are served with, before it runs and while it does.
class TLSReloadUnitTest < Minitest::Test
  def setup
    @sockets = Array.new(2) { TCPServer.new("127.0.0.1", 0) }
    @issued = %w[first.example second.example third.example].map { |name| Certificates.authority.issue("localhost", name) }
    configuration = Upwell::StaticConfiguration.new({}, environment: {})
    @reactor = Upwell::StaticReactor.new(__dir__, configuration.reactor_settings.merge(access_log: nil))
  end

  def teardown
    @sockets.each(&:close)
  end

  def context(issued)
    Upwell::TLSContext.new(certificates: [[issued.path, issued.key_path]], ca: nil, clients: :unasked, ticket_secret: "s" * 32,
                           ticket_secret_since: Time.now.to_i)
  end

  def served
    TLSClient.open(@sockets.first.local_address.ip_port) { |client| client.socket.peer_cert.to_der }
  end

  def test_before_and_while_it_runs
    first, second, third = @issued
    @reactor.listen(@sockets.first, context(first)).renew(@sockets.first, context(second))
    thread = Thread.new { @reactor.run }
    assert_equal second.certificate.to_der, served
    20.times { @reactor.renew(@sockets.first, context(third)) }
    GC.start
    Timeout.timeout(30) { nil until served == third.certificate.to_der }
    @reactor.renew(@sockets.first, context(first)) # may arrive when there are no more turns
    @reactor.drain(10)
    assert thread.value
  end

  def test_what_cannot_be_renewed
    good = context(@issued.first)
    @reactor.listen(@sockets.first, good).listen(@sockets.last)
    assert_raises(TypeError) { @reactor.listen(@sockets.last, "context") }
    assert_raises(TypeError) { @reactor.renew(@sockets.first, nil) }
    [@sockets.last, $stdin].each { |other| assert_raises(ArgumentError) { @reactor.renew(other, good) } }
    assert_raises(Upwell::Error) { @reactor.listen(@sockets.first, Upwell::TLSContext.allocate) }
  end
end
