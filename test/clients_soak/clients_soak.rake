# frozen_string_literal: true

desc "Many random clients that stay, with the extension under ASan and UBSan: SECONDS=600 SEED=1 MODES=fibers BACKENDS=epoll WORKERS=0,2"
task "test:clients_soak" => "compile:sanitized" do
  ruby "test/clients_soak/run.rb", verbose: false
end
