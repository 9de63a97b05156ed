# frozen_string_literal: true

require_relative "static_files_fixture"

# A client for whatever serves files, and what holds of its downloads: `folder` is a StaticFilesFixture, `server` a ServerProcess.
module DownloadTests
  def get(target, *fields, method: "GET")
    RawClient.open(server.port) do |client|
      client.write(request(target, *fields, method: method))
      client.response(head: method == "HEAD")
    end
  end

  def request(target, *fields, method: "GET")
    "#{["#{method} #{target} HTTP/1.1", "Host: test", *fields].join("\r\n")}\r\n\r\n"
  end

  def test_clients_that_leave_in_the_middle_of_a_download
    get("/large.bin")
    before = server.descriptors
    20.times do
      RawClient.open(server.port) do |client|
        client.write(request("/large.bin") * 3)
        client.socket.readpartial(1000)
      end
    end
    await { server.descriptors <= before }
    assert_equal StaticFilesFixture::LARGE_BYTES, get("/large.bin").body.bytesize
  end

  private

  # Asks until the answer is true: of what only shows when it is looked at.
  def await
    Timeout.timeout(60) do
      loop { (result = yield) && (return result) }
    end
  end
end
