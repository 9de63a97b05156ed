# frozen_string_literal: true

desc "Each pair of stop and restart signals, to a server under load: no request is lost (ROUNDS=100 WORKERS=0,2 MODES=fibers SEED=1)"
task "test:signals" => :compile do
  ruby "test/signals/all_signal_pairs.rb", verbose: false
end
