# frozen_string_literal: true

require "minitest/autorun"
require "rbconfig"
require_relative "../../bench/lib/server"
require_relative "../../bench/tls/settings"
require_relative "../support/bundle_gem_paths"

class TlsBenchTest < Minitest::Test
  Environment = Struct.new(:environment)
  ROOT = File.expand_path("../..", __dir__)

  def setup
    Bench::Static::ServedFiles.make
    [Bench::Tls::RSA, Bench::Tls::ECDSA].each(&:make)
  end

  def test_files_are_answered_as_expected
    serve do |server|
      workloads.first(2).each { |workload| assert_nil workload.objection(server.request(workload.request)), workload.name }
    end
  end

  def test_another_answer_is_not_accepted
    small, large = workloads
    serve { |server| assert_equal "another content, of 1024 bytes", large.objection(server.request(small.request)) }
  end

  def test_handshakes_are_full_or_resumed
    serve do |server|
      %w[full resumed].each do |kind|
        result = Bench::Tls::Handshakes.new(kind).run(url: server.url, connections: 2, seconds: 1)
        assert_operator result.requests, :>, 2, kind
        assert_equal 0, result.socket_errors, kind
        assert_operator result.requests_per_second, :>, 0
      end
    end
  end

  def test_a_port_where_nobody_listens_brings_errors
    result = Bench::Tls::Handshakes.new("full").run(url: "https://127.0.0.1:1/", connections: 1, seconds: 1)
    assert_equal [0, true], [result.requests, result.socket_errors.positive?]
  end

  def test_the_certificates_are_of_their_kind
    keys = [Bench::Tls::RSA, Bench::Tls::ECDSA].map do |certificate|
      OpenSSL::X509::Certificate.new(File.read(certificate.path)).tap { |read| assert read.check_private_key(OpenSSL::PKey.read(File.read(certificate.key_path))) }
    end
    assert_equal [OpenSSL::PKey::RSA, OpenSSL::PKey::EC], keys.map { |read| read.public_key.class }
  end

  def test_a_candidate_is_told_port_and_certificate
    puma = Bench::Tls::CANDIDATES.find { |candidate| candidate.name == "puma" }
    holder = Bench::Tls::Holder.new(puma, Bench::Tls::ECDSA)
    assert_includes holder.arguments(4711), "ssl://127.0.0.1:4711?cert=#{Bench::Tls::ECDSA.path}&key=#{Bench::Tls::ECDSA.key_path}"
  end

  def test_defaults
    settings = Bench::Tls::Settings.new({})
    assert_equal [2, 5, [64], Bench::Tls::CANDIDATES], [settings.seconds, settings.rounds, settings.connections, settings.candidates]
  end

  private

  def workloads
    Bench::Tls::WORKLOADS
  end

  def serve(&block)
    Bench::Server.open(method(:upwell), installation: Environment.new(BundleGemPaths.environment_without_rubygems), secure: true, &block)
  end

  def upwell(port)
    [RbConfig.ruby, "-I#{ROOT}/lib", "#{ROOT}/exe/upwell", "static", "-s", "-c", Bench::Tls::RSA.path, "-k", Bench::Tls::RSA.key_path,
     "-b", "127.0.0.1", "-p", port.to_s, "--quiet", Bench::Static::ServedFiles::ROOT]
  end
end
