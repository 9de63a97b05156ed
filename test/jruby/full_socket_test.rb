# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/scheduling"

# A socket that is full, on JRuby, whose IO::Buffer#write would block all fibers.
class FullSocketTest < Minitest::Test
  include Scheduling

  BYTES = 600_000 # more than there is room for

  def test_others_run_while_a_writer_waits_for_room
    on_every_backend do |scheduler|
      reader, writer = UNIXSocket.pair
      read = nil
      Fiber.schedule { writer.write("x" * BYTES) && writer.close }
      Fiber.schedule { read = reader.read }
      scheduler.run
      assert read == "x" * BYTES, "#{read&.bytesize} bytes"
    end
  end
end
