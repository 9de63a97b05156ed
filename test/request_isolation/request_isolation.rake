# frozen_string_literal: true

desc "An unruly application, and clients that know which bytes are theirs: MODES, BACKENDS, WORKERS, SECONDS, SEED, JOBS, ACTS (a pattern)"
task "test:request_isolation" => :compile do
  ruby "test/request_isolation/all_combinations.rb", verbose: false
end
