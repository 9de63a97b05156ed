# frozen_string_literal: true

require_relative "chart"
require_relative "machine"
require_relative "report"

module Bench
  # Results as a page and a chart: bench/results/DATE-NAME.md and .svg.
  module ResultsWriter
    RESULTS = File.expand_path("../results", __dir__)

    module_function

    # @param tables [Array<WorkloadSamples>]
    # @param facts [Hash{String => String}] what the figures hang on, beside date, machine and the servers' commands
    # @param chart_title [String]
    # @param report [Hash] what else the report is made of
    def write(name, tables, facts:, chart_title:, **report)
      date = Time.now.strftime("%F")
      path = File.join(RESULTS, "#{date}-#{name}")
      page = Report.new(tables, facts: { "date" => date, **Machine.description, **facts }, chart: "#{File.basename(path)}.svg", **report)
      Dir.mkdir(RESULTS) unless Dir.exist?(RESULTS)
      File.write("#{path}.md", page.to_s)
      File.write("#{path}.svg", Chart.new(tables, title: chart_title).to_s)
      puts page, "written to #{path}.md and .svg"
    end
  end
end
