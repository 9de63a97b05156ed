# frozen_string_literal: true

desc "Hostile clients against the server, with the extension under ASan and UBSan; SECONDS=54 SEED=1, TLS=1: by TLS"
task "test:sanitized" => "compile:sanitized" do
  ruby "test/hostile/run.rb", verbose: false
end
