# frozen_string_literal: true

# The static file server beside itself at the commit BEFORE; see bench/README.md. Prints a table.

require_relative "../lib/candidates_at_two_commits"
require_relative "settings"

commit = ENV.fetch("BEFORE") { abort "bench:static_commits: name the commit to compare with: BEFORE=main rake bench:static_commits" }
Bench::Static::ServedFiles.make
Bench::CandidatesAtTwoCommits.run(commit, Bench::Static::CANDIDATES) { |candidates| Bench::Static::Settings.new(candidates: candidates) }
