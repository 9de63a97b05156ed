# frozen_string_literal: true

module Bench
  module Opal
    # What Rack costs above each runtime's bare hello, and what `env.to_s` costs above hello: a section of the report.
    class OverheadRatios
      HEADINGS = ["candidate", "connections", "hello: CPU to bare (min, max)", "env.to_s: CPU to bare", "env.to_s: CPU to hello",
                  "hello/s to env.to_s/s"].freeze

      # @param tables [Array<WorkloadSamples>] of hello and env
      def initialize(tables)
        @tables = tables
      end

      # @return [String]
      def to_s
        rows = @tables.filter_map(&:connections).uniq.flat_map { |connections| rows(table("hello", connections), table("env", connections)) }
        <<~MARKDOWN
          ## Ratios

          Bare is the same runtime's hello without Rack. Minimum and maximum are of single rounds, in which both were measured one after another.

          #{[HEADINGS, HEADINGS.map { "---" }, *rows].map { |cells| "| #{cells.join(" | ")} |" }.join("\n")}
        MARKDOWN
      end

      private

      def table(name, connections)
        @tables.find { |table| table.workload.name == name && table.connections == connections }
      end

      def rows(hello, env)
        measured = [hello, env].compact.flat_map(&:candidates).uniq.reject(&:bare?)
        measured.map { |candidate| [candidate.name, (hello || env).connections, *cells(hello, env, candidate)] }
      end

      def cells(hello, env, candidate)
        bare = hello&.candidates&.find { |other| other.bare? && other.runtime == candidate.runtime }
        bare_cpu, hello_cpu, env_cpu = [[hello, bare], [hello, candidate], [env, candidate]].map { |table, one| figure(table, one, :cpu_us) }
        [[ratio(hello_cpu, bare_cpu), spread(hello, candidate, bare)].compact.join(" "), ratio(env_cpu, bare_cpu), ratio(env_cpu, hello_cpu),
         ratio(figure(hello, candidate, :rate), figure(env, candidate, :rate))]
      end

      # @return [Float, nil] nil for what was not measured
      def figure(table, candidate, quantity)
        table.median(candidate, quantity) if table&.candidates&.include?(candidate)
      end

      def ratio(value, base)
        value && base ? format("%.2f", value / base) : "–"
      end

      def spread(table, *pair)
        return unless pair.all? { |candidate| figure(table, candidate, :cpu_us) }

        rounds = pair.map { |candidate| table.values(candidate, :cpu_us) }.reduce(&:zip)
        format("(%.2f, %.2f)", *rounds.map { |ours, bare| ours / bare }.minmax)
      end
    end
  end
end
