# frozen_string_literal: true

require_relative "statistics"

module Bench
  # The results as Markdown: how they were got first, then a table for each workload and number of connections.
  class Report
    MEBIBYTE = 1_048_576.0

    # @param tables [Array<WorkloadSamples>]
    # @param facts [Hash{String => String}] of the machine and the run
    # @param servers [Hash{Candidate => String}] with their versions
    # @param chart [String] the chart's file name
    # @param columns [Hash{String => Array(Symbol, String)}] further ones: heading, quantity of the sample and its format
    # @param appendix [String, nil] a last section
    def initialize(tables, facts:, servers:, chart:, title: "Benchmark", columns: {}, appendix: nil)
      @tables = tables
      @facts = facts
      @servers = servers
      @chart = chart
      @title = title
      @columns = columns
      @appendix = appendix
    end

    # @return [String]
    def to_s
      [head, *@tables.map { |table| section(table) }, *@appendix].join("\n")
    end

    private

    def head
      <<~MARKDOWN
        # #{@title}

        #{@facts.map { |name, value| "- #{name}: #{value}" }.join("\n")}

        | candidate | versions | command |
        | --- | --- | --- |
        #{@servers.map { |candidate, versions| row([candidate.name, versions, "`#{candidate.command}`"]) }.join("\n")}

        Figures are medians over the rounds. "To best peer" divides by the best of those that are not Upwell: above 1 is better for
        the rate, below 1 for CPU. Where the load generator held a server back (‡), compare CPU a request, not requests/s.

        ![Rates and CPU time](#{@chart})
      MARKDOWN
    end

    def section(table)
      headings = headings(table)
      failures = table.failures.map { |candidate, reason| row([candidate.name, reason, *Array.new(headings.size - 2, "–")]) }
      <<~MARKDOWN
        ## #{table.title}

        #{row(headings)}
        #{row(headings.map { "---" })}
        #{[*table.candidates.map { |candidate| row(cells(table, candidate)) }, *failures].join("\n")}
      MARKDOWN
    end

    # A workload without connections has no load generator beside it.
    def headings(table)
      unit = table.workload.unit
      figures = ["#{unit}/s (min, max)", "to best peer", "CPU µs/#{unit.delete_suffix("s")} (min, max)", "to best peer",
                 "user + system", "its core", "peak MiB"]
      ["candidate", *figures, *(["p50 ms", "p99 ms", "errors", "memory MiB", "generator's core"] if table.connections), *@columns.keys]
    end

    def cells(table, candidate)
      [candidate.name, *speed(table, candidate), *cpu(table, candidate), percent(table, candidate, :core_share),
       mebibytes(table.values(candidate, :peak).max), *(load_cells(table, candidate) if table.connections),
       *@columns.values.map { |quantity, format| further(table, candidate, quantity, format) }]
    end

    def load_cells(table, candidate)
      [decimal(table, candidate, :p50), decimal(table, candidate, :p99), table.values(candidate, :errors).sum.to_s,
       mebibytes(table.median(candidate, :resident)), percent(table, candidate, :wrk_share)]
    end

    def further(table, candidate, quantity, format)
      values = table.values(candidate, quantity).compact
      values.empty? ? "–" : format(format, Statistics.median(values))
    end

    def speed(table, candidate)
      minimum, maximum = table.values(candidate, :rate).minmax
      mark = "‡" if table.connections && table.held_back_by_wrk?(candidate)
      [format("%.0f%s (%.0f, %.0f)", table.median(candidate, :rate), mark, minimum, maximum),
       ratio(table.ratio_to_best_peer(candidate, :rate, :max))]
    end

    def cpu(table, candidate)
      total, user, system = %i[cpu_us user_us system_us].map { |quantity| table.median(candidate, quantity) }
      minimum, maximum = table.values(candidate, :cpu_us).minmax
      [format("%.1f (%.1f, %.1f)", total, minimum, maximum), ratio(table.ratio_to_best_peer(candidate, :cpu_us, :min)),
       format("%.1f + %.1f", user, system)]
    end

    def mebibytes(bytes)
      format("%.0f", bytes / MEBIBYTE)
    end

    def ratio(value)
      value ? format("%.2f", value) : "–"
    end

    def decimal(table, candidate, quantity)
      format("%.2f", table.median(candidate, quantity))
    end

    def percent(table, candidate, quantity)
      format("%.0f %%", table.median(candidate, quantity) * 100)
    end

    def row(cells)
      "| #{cells.map { |cell| cell.to_s.gsub("|", "\\|").gsub(/\s+/, " ") }.join(" | ")} |"
    end
  end
end
