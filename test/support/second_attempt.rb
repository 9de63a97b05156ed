# frozen_string_literal: true

# A busy machine can make a test fail that depends on time. In CI a failed test runs again, alone, after all others have ended. Both outcomes are
# written to the file UPWELL_SECOND_ATTEMPTS, which .ci/run prints.
module SecondAttempt
  FILE = ENV.fetch("UPWELL_SECOND_ATTEMPTS", nil)
  FAILED_MAX = 4 # more failures have a cause that a second attempt must not hide

  class << self
    # @param results [Array<Minitest::Result>] tests that failed or were skipped
    # @return [Array<Minitest::Result>] the same without those that now pass
    def remaining(results)
      skipped, failed = results.partition(&:skipped?)
      skipped + remaining_cases(failed) { |result| run_again(result) }
    end

    # @param failed [Array<#to_s>] cases that failed
    # @yield [Object] runs a case again
    # @yieldreturn [Object, nil] the failure
    # @return [Array] the same without those that now pass
    def remaining_cases(failed)
      return failed if FILE.nil? || failed.size > FAILED_MAX

      failed.select { |first| yield(first).tap { |failure| note(first, failure ? "failed" : "passed") } }
    end

    # @return [Boolean] whether the test that runs now has failed before
    def running?
      @running == true
    end

    private

    def run_again(result)
      @running = true
      Object.const_get(result.class_name).new(result.name).run.failure
    end

    def note(first, outcome)
      File.write(FILE, "#{first}\nThe second attempt, alone: #{outcome}\n\n", mode: "a")
    end
  end
end
