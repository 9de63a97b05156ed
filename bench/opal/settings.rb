# frozen_string_literal: true

require_relative "../lib/settings"
require_relative "candidates"

module Bench
  module Opal
    # What to measure, from the environment: as elsewhere.
    class Settings < Bench::Settings
      WORKLOADS = Bench::WORKLOADS.select { |workload| %w[hello env].include?(workload.name) }.freeze

      def initialize(environment = ENV)
        super(environment, workloads: WORKLOADS, candidates: CANDIDATES)
      end

      private

      def connections_default
        "64"
      end
    end
  end
end
