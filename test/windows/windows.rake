# frozen_string_literal: true

desc "Test loop, selector and scheduler, which are in Ruby there, on Windows' Ruby under Wine (TESTS=FILE,FILE: some)"
task "test:windows:ruby" do
  tests = ENV.fetch("TESTS") { FileList["test/upwell/{loop,selector}_test.rb", "test/upwell/scheduler/*_test.rb"].join(",") }.split(",")
  required = ["./test/windows/under_wine", *tests.map { |path| "./#{path}" }].map { |path| "require '#{path}'" }
  sh({ "NCPU" => nil, "UPWELL_PURE" => "1" }, "bin/windows-ruby", "-Ilib", "-Itest", "-e", required.join(";"), verbose: false)
end
