# frozen_string_literal: true

require "digest"
require_relative "../test_helper"
require_relative "../support/tls_client"

# What is sent by TLS is sealed by the kernel, where that can. `rake test:kernel_tls` brings a machine whose kernel can.
class KernelTLSTest < Minitest::Test
  STATISTICS = "/proc/net/tls_stat"
  VERSIONS = [OpenSSL::SSL::TLS1_2_VERSION, OpenSSL::SSL::TLS1_3_VERSION].freeze
  CIPHERS = %w[ECDHE-ECDSA-AES128-GCM-SHA256 ECDHE-ECDSA-AES256-GCM-SHA384 ECDHE-ECDSA-CHACHA20-POLY1305].freeze
  FILE_BYTES = 10 * 1024 * 1024
  SIZES = [30_000, 200_000, 1_000_000, 2_600_000, 5_000_000].freeze # less and more than the socket has room for
  AHEAD_BYTES = 4096
  BIG_BYTES = 20_000_000 # of /big

  def setup
    skip "this kernel has no TLS, or has not loaded it" unless File.exist?(STATISTICS)
    @folder = Dir.mktmpdir
  end

  def teardown
    FileUtils.rm_rf(@folder) if @folder
  end

  # How many connections the kernel has sealed for so far: of all processes.
  def sealed
    File.read(STATISTICS)[/^TlsTxSw\s+(\d+)/, 1].to_i
  end

  def open_sealed(server, **settings, &block)
    before = sealed
    TLSClient.open(server.port, **settings, &block)
    assert_operator sealed, :>, before
  end

  def each_server(*options, **settings)
    BACKENDS.each do |backend|
      ServerProcess.open("--backend", backend, *Certificates.options, *options, **settings) { |server| yield server }
    end
  end

  def each_static_server(&block)
    each_server(command: ["static"], app: @folder, &block)
  end

  def write_file(name, length)
    Random.new(length).bytes(length).tap { |bytes| File.binwrite(File.join(@folder, name), bytes) }
  end

  def get(client, path, *fields)
    client.write("#{["GET #{path} HTTP/1.1", "Host: test", *fields].join("\r\n")}\r\n\r\n")
    client.response.body
  end

  def test_answers
    each_server("--mode", "fibers") do |server|
      VERSIONS.each do |version|
        open_sealed(server, max_version: version) do |client|
          2.times { assert_equal "Hello World", get(client, "/") }
          assert_equal "onetwothree", get(client, "/each-piece")
          assert_equal BIG_BYTES, get(client, "/big").bytesize
          client.write("GET / HTTP/1.1\r\nHost: test\r\n\r\n" * 20)
          20.times { assert_equal "Hello World", client.response.body }
        end
      end
      assert_predicate server.stop, :success?
    end
  end

  def test_files
    digest = Digest::SHA256.digest(write_file("large", FILE_BYTES))
    each_static_server do |server|
      CIPHERS.each do |cipher|
        open_sealed(server, max_version: OpenSSL::SSL::TLS1_2_VERSION, ciphers: cipher) { |client| check_file(client, digest) }
      end
      open_sealed(server) { |client| check_file(client, digest) }
    end
  end

  def check_file(client, digest)
    2.times { assert_equal digest, Digest::SHA256.digest(get(client, "/large")) }
    assert_equal File.binread(File.join(@folder, "large"), 99_999, 1_000_001), get(client, "/large", "Range: bytes=1000001-1099999")
  end

  # The kernel may hold back a sealed record for which the socket has no room; an end must not overtake it.
  def test_a_slow_client_that_has_said_all_gets_all
    contents = SIZES.map { |size| write_file(size.to_s, size) }
    each_static_server do |server|
      SIZES.zip(contents) do |size, content|
        open_sealed(server, ahead: AHEAD_BYTES) do |client|
          client.write("GET /#{size} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n")
          client.tcp.shutdown(:WR)
          sleep 0.2 # the server goes on until nothing has room any more
          assert_equal content, client.response.body
          assert_empty client.read_all # which ends with close_notify, or raises
        end
      end
    end
  end

  def test_clients_that_leave_in_the_middle
    write_file("large", FILE_BYTES)
    each_static_server do |server|
      10.times do
        open_sealed(server) do |client|
          client.write("GET /large HTTP/1.1\r\nHost: test\r\n\r\n")
          client.socket.readpartial(100)
          client.tcp.close
        end
      end
      open_sealed(server) { |client| assert_equal FILE_BYTES, get(client, "/large").bytesize }
      assert_predicate server.stop, :success?
    end
  end

  def test_hijacks
    each_server("--mode", "threads:2") do |server|
      open_sealed(server) do |client|
        client.write("GET /hijack HTTP/1.1\r\nHost: test\r\n\r\nand more")
        assert client.read_all.end_with?("\r\n\r\nhijacked and more")
      end
    end
  end
end
