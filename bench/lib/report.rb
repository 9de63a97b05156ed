# frozen_string_literal: true

module Bench
  # The results as Markdown: how they were got first, then a table for each workload and number of connections.
  class Report
    HEADINGS = ["server", "requests/s (min, max)", "to best peer", "p50 ms", "p99 ms", "CPU µs/request (user + system)", "to best peer",
                "errors", "memory MiB (peak)", "server's core", "wrk's core"].freeze
    MEBIBYTE = 1_048_576.0

    # @param tables [Array<Table>]
    # @param facts [Hash{String => String}] of the machine and the run
    # @param servers [Hash{Candidate => String}] with their versions
    # @param chart [String] the chart's file name
    def initialize(tables, facts:, servers:, chart:)
      @tables = tables
      @facts = facts
      @servers = servers
      @chart = chart
    end

    # @return [String]
    def to_s
      [head, *@tables.map { |table| section(table) }].join("\n")
    end

    private

    def head
      <<~MARKDOWN
        # Benchmark

        #{@facts.map { |name, value| "- #{name}: #{value}" }.join("\n")}

        | server | versions | command |
        | --- | --- | --- |
        #{@servers.map { |candidate, versions| row([candidate.name, versions, "`#{candidate.command}`"]) }.join("\n")}

        Figures are medians over the rounds. "To best peer" divides by the best of the servers that are not Upwell: above 1 is better for
        requests/s, below 1 for CPU. Where wrk held a server back (‡), compare CPU a request, not requests/s.

        ![Requests per second and CPU time per request](#{@chart})
      MARKDOWN
    end

    def section(table)
      <<~MARKDOWN
        ## #{table.workload.title}, #{table.connections} connections

        #{row(HEADINGS)}
        #{row(HEADINGS.map { "---" })}
        #{[*table.candidates.map { |candidate| row(cells(table, candidate)) }, *failures(table)].join("\n")}
      MARKDOWN
    end

    def cells(table, candidate)
      [candidate.name, *speed(table, candidate), decimal(table, candidate, :p50), decimal(table, candidate, :p99), *cpu(table, candidate),
       table.values(candidate, :errors).sum.to_s, memory(table, candidate),
       percent(table, candidate, :server_share), percent(table, candidate, :wrk_share)]
    end

    def speed(table, candidate)
      minimum, maximum = table.values(candidate, :requests_per_second).minmax
      mark = "‡" if table.held_back_by_wrk?(candidate)
      [format("%.0f%s (%.0f, %.0f)", table.median(candidate, :requests_per_second), mark, minimum, maximum),
       ratio(table.ratio_to_best_peer(candidate, :requests_per_second, :max))]
    end

    def cpu(table, candidate)
      total, user, system = %i[cpu_us user_us system_us].map { |quantity| table.median(candidate, quantity) }
      [format("%.1f (%.1f + %.1f)", total, user, system), ratio(table.ratio_to_best_peer(candidate, :cpu_us, :min))]
    end

    def memory(table, candidate)
      format("%.0f (%.0f)", table.median(candidate, :resident) / MEBIBYTE, table.values(candidate, :peak).max / MEBIBYTE)
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

    def failures(table)
      table.failures.map { |candidate, reason| row([candidate.name, reason, *Array.new(HEADINGS.size - 2, "–")]) }
    end

    def row(cells)
      "| #{cells.map { |cell| cell.to_s.gsub("|", "\\|").gsub(/\s+/, " ") }.join(" | ")} |"
    end
  end
end
