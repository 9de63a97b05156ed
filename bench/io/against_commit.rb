# frozen_string_literal: true

# The scheduler and the loop beside themselves at the commit BEFORE; see bench/README.md. Prints a table.

require_relative "../lib/candidates_at_two_commits"
require_relative "candidates"
require_relative "workloads"

commit = ENV.fetch("BEFORE") { abort "bench:io_commits: name the commit to compare with: BEFORE=main rake bench:io_commits" }
Bench::CandidatesAtTwoCommits.run(commit, Bench::Io::CANDIDATES) do |candidates|
  Bench::Settings.new(workloads: Bench::Io::WORKLOADS, candidates: candidates, seconds: 1)
end
