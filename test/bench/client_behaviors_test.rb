# frozen_string_literal: true

require "test_helper"
require_relative "../../bench/lib/concurrent_clients"
require_relative "../../bench/lib/client_behaviors"

# Each kind of visit to the real server, which has to serve who behaves and to give everything back when a client leaves.
class ClientBehaviorsTest < Minitest::Test
  APP = File.expand_path("../../bench/apps/soak.ru", __dir__)
  RELEASE_MAX = 30 # seconds
  LATE = 2 # descriptors: a pipe that Ruby opens for itself when it first needs it
  # Larger bodies go to files, and a disk that has much to do holds up the loop: nobody who has left is let go then.
  FILES = { "TMPDIR" => ["/dev/shm", Dir.tmpdir].find { |folder| File.writable?(folder) } }.freeze

  Bench::ClientBehaviors::KINDS.each do |kind|
    define_method("test_#{kind}") do
      ServerProcess.open(app: APP, environment: FILES) do |server|
        RawClient.get(server.port, "/") # from now on it has what it serves with
        most = server.descriptors + LATE
        crowd = visit(server, kind)

        assert_operator crowd.visits, :>, LATE
        assert_empty crowd.failures
        assert_operator descriptors_afterwards(server, most), :<=, most, -> { server.open_files.join("\n") }
      end
    end
  end

  def test_a_wrong_answer_is_a_failure
    ServerProcess.open(app: File.expand_path("../../bench/apps/hello.ru", __dir__)) do |server|
      assert_match(/Hello, world!.* where "0" was expected/, visit(server, :keep_alive).failures.keys.first)
    end
  end

  private

  def visit(server, kind)
    crowd = Bench::ConcurrentClients.new(4) { |each| Bench::ClientBehaviors.new(each, server.port, Random.new(1)).make(kind) }
    crowd.run_for(0.05)
    crowd.finish
    crowd
  end

  # The server learns of a client's leaving in its own time, and nothing tells when.
  def descriptors_afterwards(server, most)
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + RELEASE_MAX
    sleep 0.01 until server.descriptors <= most || Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline
    server.descriptors
  end
end
