# frozen_string_literal: true

require "forwardable"
require "tmpdir"
require_relative "benchmark"
require_relative "gem_installation"
require_relative "statistics"

module Bench
  # Each candidate of Upwell beside itself as it was at another commit. Both take turns, so that what else the machine does meets both alike.
  class CandidatesAtTwoCommits
    # A candidate, built from the other commit; of the same name, so that SERVERS chooses both.
    class Before
      extend Forwardable

      def_delegators :@candidate, :name, :upwell?, :for?, :arguments, :task_arguments

      attr_reader :installation

      # @param checkout [String] of the other commit
      def initialize(candidate, checkout)
        @candidate = candidate
        @installation = candidate.installation.of(checkout)
      end
    end

    HEADINGS = ["workload", "candidate", "before, CPU µs (min, max)", "now, CPU µs (min, max)", "CPU now/before", "least",
                "rate now/before"].freeze

    # @param commit [String]
    # @param candidates [Array] that may be chosen
    # @yieldparam candidates [Array] those that can be paired, each beside itself before
    # @yieldreturn [Settings]
    def self.run(commit, candidates, &make_settings)
      Dir.mktmpdir("upwell-bench-before") do |folder|
        checkout = File.join(folder, "before")
        system("git", "worktree", "add", "--quiet", "--detach", checkout, commit, chdir: ROOT, exception: true)
        puts new(candidates.select { |candidate| built?(candidate.installation) }, checkout).run(&make_settings)
      ensure
        system("git", "worktree", "remove", "--force", checkout, chdir: ROOT)
      end
    end

    # Not a program of the core alone: it has the same sources.
    def self.built?(installation)
      installation.is_a?(GemInstallation) && installation.gem_name == "upwell"
    end
    private_class_method :built?

    def initialize(candidates, checkout)
      @pairs = candidates.to_h { |candidate| [candidate, Before.new(candidate, checkout)] }
    end

    # @return [Array<String>] lines of a table
    def run
      tables = Benchmark.new(yield(@pairs.to_a.flatten)).run.tables
      [line(HEADINGS), line(HEADINGS.map { "---" }), *tables.flat_map { |table| lines(table) }]
    end

    private

    def lines(table)
      failed = table.failures.map { |candidate, reason| line([table.title, candidate.name, reason]) }
      measured = @pairs.to_a.select { |pair| (pair - table.candidates).empty? }
      measured.map { |now, before| line([table.title, now.name, *figures(table, before, now)]) } + failed
    end

    def figures(table, before, now)
      old, new = [before, now].map { |candidate| table.values(candidate, :cpu_us) }
      rates = [before, now].map { |candidate| table.median(candidate, :rate) }
      [spread(old), spread(new), ratio(Statistics.median(old), Statistics.median(new)), ratio(old.min, new.min), ratio(*rates)]
    end

    def spread(values)
      format("%.2f (%.2f, %.2f)", Statistics.median(values), *values.minmax)
    end

    def ratio(before, now)
      format("%.3f", now / before)
    end

    def line(cells)
      "| #{cells.join(" | ")} |"
    end
  end
end
