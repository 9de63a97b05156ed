# frozen_string_literal: true

# What a request costs now beside what it cost at the commit BEFORE: both servers are up at once on one core and take turns, so that what else
# the machine does meets both alike. ROUNDS, SECONDS, WORKLOADS, CONNECTIONS and OPTIONS as in bench/README.md; prints a table with the ratios.

require "tmpdir"
require_relative "lib/commit_comparison"
require_relative "lib/settings"
require_relative "lib/upwell_checkout"

settings = Bench::Settings.new({ "WORKLOADS" => "hello,env,post", "SECONDS" => "1", **ENV })
before = ENV.fetch("BEFORE") { abort "bench:commits: name the commit to compare with: BEFORE=main rake bench:commits" }
options = ENV.fetch("OPTIONS", "").split

Dir.mktmpdir("upwell-bench-commits") do |folder|
  checkout = File.join(folder, "before")
  system("git", "worktree", "add", "--quiet", "--detach", checkout, before, chdir: Bench::ROOT, exception: true)
  commits = [Bench::UpwellCheckout.new(folder: "commit-before", checkout: checkout), Bench::UpwellCheckout.new]
  puts "µs of CPU a request: median (least–most)"
  puts "| workload | connections | #{before} | now | medians | least |", "| --- | --- | --- | --- | --- | --- |"
  settings.workloads.product(settings.connections) do |workload, connections|
    puts Bench::CommitComparison.new(commits, workload, connections, settings, options).run
  end
ensure
  system("git", "worktree", "remove", "--force", checkout, chdir: Bench::ROOT)
end
