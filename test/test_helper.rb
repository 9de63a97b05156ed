# frozen_string_literal: true

$LOAD_PATH.unshift File.expand_path("../lib", __dir__)

require "json"
require "minitest/autorun"
require_relative "support/counts"
require_relative "support/parallel_tests" if ENV["NCPU"]
require "fileutils"
require "rack"
require "timeout"
require "tmpdir"
require "upwell"
require_relative "support/hung_child"
require_relative "support/server_process"
require_relative "support/raw_client"

# Servers that are killed leave a folder each.
ENV["XDG_RUNTIME_DIR"] = Dir.mktmpdir("run")
Minitest.after_run { FileUtils.rm_rf(ENV.fetch("XDG_RUNTIME_DIR")) }

# The backends that work here; what is missing shows as a skip where it matters. The variant of io_uring that polls has a test of its own.
POLLED_BACKEND = "io_uring_sqpoll"
BACKENDS = Upwell.backends.select { |backend| backend[:works] }.map { |backend| backend[:name] } - [POLLED_BACKEND]
BACKENDS.extend(Counts::Noted).freeze
Minitest::Test.prepend(Counts::Told) if Counts::FOLDER
MODES = %w[inline fibers threads:3].freeze
RACK_2 = Rack.release.start_with?("2.") # the application of the tests runs on the same
