# frozen_string_literal: true

# While a server's application, which uses InterpreterLockHolder, has no thread that can run Ruby: `folder` is a StaticFilesFixture, `server` a
# ServerProcess.
module WithInterpreterLockHeld
  def while_locked
    RawClient.open(server.port) do |client|
      client.write("GET /holds HTTP/1.1\r\nHost: test\r\n\r\n")
      await_title("holding")
      yield
      assert_equal "holding", title
    ensure
      File.open(folder.lock, "r+") { |fifo| fifo.syswrite(".") && await_title("done") }
    end
  end

  def title
    File.read("/proc/#{server.pid}/cmdline").delete("\0").strip
  end

  def await_title(text)
    Timeout.timeout(60) { sleep(0.001) until title == text }
  end
end
