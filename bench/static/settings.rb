# frozen_string_literal: true

require_relative "../lib/settings"
require_relative "candidates"
require_relative "workloads"

module Bench
  module Static
    # What to measure, from the environment: as elsewhere, and SIZES of files.
    class Settings < Bench::Settings
      SECONDS = 2 # of each measurement, unless told otherwise: there are many

      def initialize(environment = ENV, candidates: CANDIDATES)
        super(environment, workloads: WORKLOADS, candidates: candidates, seconds: SECONDS)
      end

      # @return [Array<Workload>]
      def workloads
        sizes = named("SIZES", SIZES)
        super.select { |workload| sizes.include?(workload.file) }
      end

      private

      def connections_default
        "64,1000"
      end
    end
  end
end
