# frozen_string_literal: true

require_relative "../test_helper"
require_relative "chromium"

# An example that two workers serve, and a browser.
class ExamplePageTestCase < Minitest::Test
  EXAMPLES = File.join(ServerProcess::ROOT, "examples")
  RELOADS_MAX = 60

  private

  # @yieldparam url [String]
  # @yieldparam browser [Chromium]
  # @yieldparam server [ServerProcess]
  def with_pages
    skip "#{Chromium::COMMAND} is not installed" unless Chromium.there?

    serve do |server|
      Chromium.open { |browser| yield "http://127.0.0.1:#{server.port}/", browser, server }
    end
  end

  def serve
    Dir.mktmpdir do |folder|
      app = File.join(EXAMPLES, self.class::EXAMPLE, "config.ru")
      ServerProcess.open("-w", "2", app: app, environment: { "TMPDIR" => folder }) { |server| yield server.read_on }
    end
  end

  # Loads `page` until another worker serves it than the other.
  def on_two_workers(page, other)
    RELOADS_MAX.times do
      return if worker(page) != worker(other)

      page.value("void location.reload()")
    end
    flunk "one worker serves everyone"
  end

  # Where people talk.
  def say(page, text)
    page.click("#text")
    page.type(text)
    page.enter
  end

  # @return [String]
  def worker(page)
    page.await("document.readyState === 'complete' && document.querySelector('#state').innerText.match(/^worker/)")
    page.text("#state")
  end
end
