# frozen_string_literal: true

$LOAD_PATH.unshift File.expand_path("../lib", __dir__)

require "json"
require "minitest/autorun"
require_relative "support/counts"
require_relative "support/parallel_tests" if ENV["NCPU"]
require "rack"
require "timeout"
require "upwell"
require_relative "support/hung_child"
require_relative "support/server_process"
require_relative "support/raw_client"

# The backends that work here; what is missing shows as a skip where it matters. The variant of io_uring that polls has a test of its own.
POLLED_BACKEND = "io_uring_sqpoll"
BACKENDS = Upwell.backends.select { |backend| backend[:works] }.map { |backend| backend[:name] } - [POLLED_BACKEND]
BACKENDS.extend(Counts::Noted).freeze
Minitest::Test.prepend(Counts::Told) if Counts::FOLDER
MODES = %w[inline fibers threads:3].freeze
RACK_2 = Rack.release.start_with?("2.") # the application of the tests runs on the same
