# frozen_string_literal: true

require "json"

# What each test ran on, and how it ended: a line of JSON for each into the folder UPWELL_COUNTS, if that is set, of which
# test/support/count_table.rb makes a table. Nobody guesses by a test's name: what serves, or is given a backend, says so here.
module Counts
  FOLDER = ENV.fetch("UPWELL_COUNTS", nil)
  RUBY = (RUBY_ENGINE == "jruby" ? "JRuby #{JRUBY_VERSION}" : "Ruby #{RUBY_VERSION}")[/\A\w+ \d+\.\d+/]
  PROCESSOR = RUBY_PLATFORM[/aarch64|arm64/]

  # For Minitest's tests.
  module Told
    def run
      Counts.forget
      super.tap { |result| Counts.tell(self, result) }
    end
  end

  # For BACKENDS: a test that goes through them runs on each.
  module Noted
    def each
      return super unless block_given?

      super do |backend|
        Counts.on(backend)
        yield backend
      end
    end
  end

  @backends = []

  class << self
    # @param backend [String, nil] what the test that is running now runs on, too
    def on(backend)
      @backends |= [backend] if backend
    end

    def forget
      @backends = []
    end

    # In one write: other processes append, too.
    def tell(test, result)
      on(test.backend) if test.respond_to?(:backend)
      line = { by: [RUBY, PROCESSOR].compact.join(", "), test: "#{result.klass}##{result.name}", on: @backends, seconds: result.time.round(3),
               assertions: result.assertions, end: ending(result), reason: result.skipped? ? result.failure.message : nil }
      File.write(File.join(FOLDER, "ruby-#{Process.pid}"), "#{JSON.generate(line)}\n", mode: "a")
    end

    private

    def ending(result)
      return "passed" if result.passed?
      return "skipped" if result.skipped?

      result.error? ? "errors" : "failures"
    end
  end
end
