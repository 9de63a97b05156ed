# frozen_string_literal: true

desc "Scheduler and loop under closes, kills, forks, collections; each byte tells whose it is: SECONDS, BACKENDS, SEED, JOBS, LOAD, LEAVE_OUT"
task "test:torture" => :compile do
  ruby "test/torture/all_backends.rb", verbose: false
end

desc "The same, with the extension under ASan and UBSan"
task "test:torture:sanitized" => "compile:sanitized" do
  ruby "test/torture/all_backends.rb", "sanitized", verbose: false
end
