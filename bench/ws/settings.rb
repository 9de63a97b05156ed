# frozen_string_literal: true

require_relative "../lib/settings"
require_relative "workloads"

module Bench
  module Ws
    # What to measure, from the environment: as elsewhere.
    class Settings < Bench::Settings
      SECONDS = 2 # of each measurement, unless told otherwise: there are many

      def initialize(environment = ENV)
        super(environment, workloads: WORKLOADS, candidates: CANDIDATES, seconds: SECONDS)
      end

      private

      def connections_default
        "100,5000"
      end
    end
  end
end
