# frozen_string_literal: true

desc "Closed streams, full disks, failing calls at each moment of a server's life: ROWS, KINDS, WORKERS, MOMENTS (patterns), PART=1/4, JOBS"
task "test:system_faults" => :compile do
  ruby "test/system_faults/run.rb", verbose: false
end

desc "RESTARTS (200) phased restarts under load, while system faults come and go: SEED"
task "test:system_faults:restarts" => :compile do
  ruby "test/system_faults/phased_restarts.rb", verbose: false
end
