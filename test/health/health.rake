# frozen_string_literal: true

desc "Servers under load that are stopped as Kubernetes does: no request fails (REQUESTS=50000 CLIENTS=16 SEED=1)"
task "test:health" => :compile do
  ruby "test/health/endpoint_removals.rb", verbose: false
end

desc "Servers under load that SIGUSR2 restarts: no request fails (REQUESTS=50000 CLIENTS=16 RESTARTS=2 SEED=1)"
task "test:hot_restart" => :compile do
  ruby "test/health/hot_restarts.rb", verbose: false
end
