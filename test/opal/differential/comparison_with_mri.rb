# frozen_string_literal: true

require_relative "known_differences"
require_relative "request_lists"
require_relative "normalized_responses"

module Differential
  # An application's answers on a JavaScript runtime beside those on MRI.
  class ComparisonWithMRI
    PART_MAX = 300 # bytes of an answer that are told

    # @return [Hash{Difference => Integer}] how often each known difference was seen
    attr_reader :known
    # @return [Array<String>] what differs and is not known
    attr_reader :unknown

    def initialize(application, command, requests, on_mri)
      @known = Hash.new(0)
      @unknown = []
      @candidates = KNOWN.select { |difference| difference.of?(application, command) }
      answers = NormalizedResponses.of(command, application, requests)
      if answers.is_a?(String)
        note("the start", nil, answers) { |one| one.line.nil? }
      else
        requests.zip(on_mri, answers) { |request, wanted, given| compare(request, wanted, given) }
      end
    end

    private

    def compare(request, wanted, given)
      return if wanted == given

      note(request.name, wanted.inspect.byteslice(0, PART_MAX), given.inspect) { |one| one.line&.match?(request.line) }
    end

    def note(name, wanted, given, &block)
      difference = @candidates.find { |one| yield(one) && one.sign.match?(given.scrub) }
      return @known[difference] += 1 if difference

      told = given.scrub
      @unknown << "#{name}: #{told[-PART_MAX..] || told}#{" instead of #{wanted.scrub}" if wanted}"
    end
  end
end
