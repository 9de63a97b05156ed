# frozen_string_literal: true

# Runs the whole table of docs/reference/platforms.md; `.ci/run` runs a part of it. Each part has its own process. A failure does not
# stop the rest.
module Matrix
  MODERN = "bin/modern-ruby"
  PARTS = [
    "rake test:core",
    "rake test",
    "rake test:kqueue",
    "rake test:kqueue:ruby",
    "#{MODERN} bin/setup && #{MODERN} rake test",
    "#{MODERN} bin/setup && #{MODERN} rake test:kqueue:ruby",
    "rake test:cross",
    "rake test:iocp",
    "rake test:windows:ruby",
    "rake test:aarch64",
    "rake test:aarch64:ruby",
    "rake native test:native",
    "rake test:musl",
    "rake test:musl:ruby",
    "rake test:jruby"
  ].freeze
  COUNTS = File.expand_path("../../build/matrix", __dir__)
  ENVIRONMENT = { "UPWELL_COUNTS" => COUNTS, "UPWELL_TEST_PAIRS" => "all" }.freeze

  class << self
    # @param pattern [Regexp] of parts
    # @return [Boolean] whether all have passed
    def run(pattern)
      FileUtils.rm_rf(COUNTS)
      FileUtils.mkdir_p(COUNTS)
      failed = PARTS.grep(pattern).reject { |part| passed?(part) }
      passed = system("ruby", "test/support/test_results_table.rb", COUNTS)
      failed.each { |part| puts "failed: #{part}" }
      passed && failed.empty?
    end

    private

    # As from a shell: with no other Ruby's bundle.
    def passed?(part)
      puts "\n== #{part}"
      Bundler.with_unbundled_env { system(ENVIRONMENT, part.sub("rake", "bundle exec rake --quiet")) }
    end
  end
end

desc "Run the whole table of docs/reference/platforms.md, for hours; PARTS=kqueue: matching parts (Debian on x86-64, npm, what the tasks name)"
task("test:matrix") { Matrix.run(Regexp.new(ENV.fetch("PARTS", ""))) || abort("rake test:matrix: not all has passed") }
