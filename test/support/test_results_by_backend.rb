# frozen_string_literal: true

require "json"
require_relative "second_attempt"

# What each test ran on, and how it ended: a line of JSON for each into the folder UPWELL_COUNTS, if that is set, of which
# test/support/test_results_table.rb makes a table. Nobody guesses by a test's name: what serves, or is given a backend, says so here.
module TestResultsByBackend
  FOLDER = ENV.fetch("UPWELL_COUNTS", nil)
  RUBY = (RUBY_ENGINE == "jruby" ? "JRuby #{JRUBY_VERSION}" : "Ruby #{RUBY_VERSION}")[/\A\w+ \d+\.\d+/]
  MACHINE = Gem.win_platform? ? "Windows" : RUBY_PLATFORM[/aarch64|arm64|musl/]

  # For Minitest's tests.
  module Told
    def run
      return super if TestResultsByBackend.at # a test that runs within another one counts as a part of this one

      TestResultsByBackend.begin(self.class)
      super.tap { |result| TestResultsByBackend.tell(self, result) }
    end
  end

  # For BACKENDS: a test that goes through them runs on each.
  module Noted
    def each
      return super unless block_given?

      super do |backend|
        TestResultsByBackend.on(backend)
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

    # @return [Class, nil] the class of the test that is running
    attr_reader :at

    def begin(test_class)
      @at = test_class
      @backends = []
    end

    # In one write: other processes append, too.
    def tell(test, result)
      @at = nil
      on(test.backend) if test.respond_to?(:backend)
      line = { by: [RUBY, MACHINE].compact.join(", "), test: "#{result.klass}##{result.name}", on: @backends, seconds: result.time.round(3),
               assertions: result.assertions, end: ending(result), again: SecondAttempt.running?,
               reason: result.skipped? ? result.failure.message.scrub : nil }
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
