# frozen_string_literal: true

desc "Servers under load that are stopped as Kubernetes does: no request fails (REQUESTS=50000 CLIENTS=16 SEED=1)"
task "test:health" => :compile do
  ruby "test/health/endpoint_removals.rb", verbose: false
end
