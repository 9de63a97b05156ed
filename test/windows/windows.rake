# frozen_string_literal: true

desc "Test loop, selector and scheduler, which are in Ruby there, on Windows' Ruby under Wine (TESTS=FILE,FILE: some)"
task "test:windows:ruby" do
  # Neither the moments of `async_exceptions`, each a run of its own, nor the examples of a gem, which count milliseconds, end in good time.
  all = FileList["test/upwell/{loop,selector}_test.rb", "test/upwell/scheduler/*_test.rb"].exclude(/(async_exceptions|gem_specs)_test/)
  tests = ENV.fetch("TESTS") { all.join(",") }.split(",")
  required = ["./test/windows/wine_substitutes", *tests.map { |path| "./#{path}" }].map { |path| "require '#{path}'" }
  sh({ "NCPU" => nil, "UPWELL_PURE" => "1" }, "bin/windows-ruby", "-Ilib", "-Itest", "-e", required.join(";"), verbose: false)
end
