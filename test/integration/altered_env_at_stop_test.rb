# frozen_string_literal: true

require_relative "../test_helper"

# Whatever an application has made of env: who is told to end says what is in flight, and ends.
class AlteredEnvAtStopTest < Minitest::Test
  PATHS = %w[/binary /utf-8 /lines /object].freeze

  def ask(server, path)
    Thread.new { RawClient.get(server.port, path).body }
  end

  [0, 1].each do |workers|
    define_method(:"test_it_drains_with_#{workers}_workers") do
      ServerProcess.open("--mode", "threads:4", "-w", workers.to_s, app: "altered_env.ru") do |server|
        asked = PATHS.map { |path| ask(server, path).tap { server.await("at work: #{path}") } }
        status = server.stop
        assert_equal PATHS, asked.map(&:value)
        assert_equal 0, status.exitstatus, server.lines.join
        assert_match(%r{/\\xC3\\xA4 /\\xC3\\xA4 from 127\.0\.0\.1 for}, server.lines.join)
        assert_match(%r{/\\x0Aforged}, server.lines.join)
      end
    end
  end
end
