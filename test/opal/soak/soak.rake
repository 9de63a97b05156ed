# frozen_string_literal: true

desc "A mixed application under steady load on each JavaScript runtime: MINUTES=10 RATE=500 CLIENTS=16 RUNTIMES=up,up_node,up_bun"
task "test:opal:soak" => :compile do
  ruby "test/opal/soak/run.rb", verbose: false
end
