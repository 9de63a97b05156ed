# frozen_string_literal: true

require "test_helper"
require "upwell/action_cable/socket"

class ActionCableSocketTest < Minitest::Test
  # Keeps what is written.
  Client = Struct.new(:written) do
    def write(data)
      written << data
      true
    end
  end
  Connection = Struct.new(:opened) do
    def on_open
      self.opened = true
    end
  end

  def test_a_string_is_text_whatever_it_is_called
    client = Client.new([])
    socket = Upwell::ActionCable::Socket.new({}, Connection.new, [])
    socket.on_open(client)
    ["é", "é".b.freeze, "é".encode("ISO-8859-1")].each { |message| assert socket.transmit(message) }
    assert_equal [["é", Encoding::UTF_8]] * 3, client.written.map { |text| [text, text.encoding] }
  end
end
