# frozen_string_literal: true

# As docs/guide/rails.md has it.
server = Process.pid
jobs = Process.detach(spawn("setpriv", "--pdeathsig", "TERM", "bin/jobs", pgroup: true))
Thread.new { Process.kill("TERM", server) unless jobs.value.success? }
at_exit do
  next unless Process.pid == server

  Process.kill("TERM", jobs.pid) if jobs.alive?
  exit(1) unless jobs.value.success?
end
