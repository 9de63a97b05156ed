# frozen_string_literal: true

$LOAD_PATH.unshift File.expand_path("../lib", __dir__)

require "json"
require "minitest/autorun"
require_relative "support/test_results_by_backend"
require_relative "support/parallel_tests" if ENV["NCPU"]
require "fileutils"
require "rack"
require "timeout"
require "tmpdir"
require "upwell"
require_relative "support/backend_mode_pairs"
require_relative "support/hung_child"
require_relative "support/time_limit"
require_relative "support/server_process"
require_relative "support/raw_client"

# A shell starts background jobs with SIGQUIT ignored. Servers under test must not inherit this.
trap("QUIT", "SYSTEM_DEFAULT")

BundleGemPaths.prepare

# Servers that are killed leave a folder each.
ENV["XDG_RUNTIME_DIR"] = Dir.mktmpdir("run")
Minitest.after_run { FileUtils.rm_rf(ENV.fetch("XDG_RUNTIME_DIR")) }

# The backends that work here, or the one of UPWELL_TEST_BACKEND. What is missing shows as a skip where it matters.
# The variant of io_uring that polls has a test of its own.
POLLED_BACKEND = "io_uring_sqpoll"
USABLE = Upwell.backends.select { |backend| backend[:works] }.map { |backend| backend[:name] } - [POLLED_BACKEND]
BACKENDS = USABLE & [ENV.fetch("UPWELL_TEST_BACKEND", USABLE)].flatten
abort "UPWELL_TEST_BACKEND: #{ENV.fetch("UPWELL_TEST_BACKEND")} is not one of #{USABLE.join(", ")}" if BACKENDS.empty? && USABLE.any?
BACKENDS.extend(TestResultsByBackend::Noted).freeze
Minitest::Test.prepend(TestResultsByBackend::Told) if TestResultsByBackend::FOLDER
MODES = %w[inline fibers threads:3].freeze
Minitest::Test.include(BackendModePairs)
RACK_2 = Rack.release.start_with?("2.") # the application of the tests runs on the same
