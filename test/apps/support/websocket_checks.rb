# frozen_string_literal: true

require_relative "server_checks"
require_relative "node_clients"

# WebSocket clients in JavaScript, each of which wants its own messages back.
class WebSocketChecks < ServerChecks
  SOCKETS = 20
  MESSAGES = 50

  instance_methods.grep(/\Acheck_/).each { |name| undef_method(name) }

  def check_echo(port = server.port)
    url = TLSOption.url("ws", "127.0.0.1:#{port}/echo")
    test.assert_equal "#{SOCKETS * MESSAGES} messages\n", NodeClients.run("echo.js", url, SOCKETS.to_s, MESSAGES.to_s)
  end

  private

  def hold
    []
  end
end
