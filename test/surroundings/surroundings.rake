# frozen_string_literal: true

desc "Closed streams, full disks, failing calls at each moment of a server's life: ROWS, KINDS, WORKERS, MOMENTS (patterns), PART=1/4, JOBS"
task "test:surroundings" => :compile do
  ruby "test/surroundings/run.rb", verbose: false
end

desc "RESTARTS (200) phased restarts under load, while the surroundings change: SEED"
task "test:surroundings:restarts" => :compile do
  ruby "test/surroundings/phased_restarts.rb", verbose: false
end
