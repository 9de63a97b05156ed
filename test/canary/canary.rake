# frozen_string_literal: true

desc "An unruly application, and clients that know which bytes are theirs: MODES, BACKENDS, WORKERS, SECONDS, SEED, JOBS, ACTS (a pattern)"
task "test:canary" => :compile do
  ruby "test/canary/all_combinations.rb", verbose: false
end
