# frozen_string_literal: true

require "open3"
require "rbconfig"
require "tmpdir"

# A resolver for processes of the tests that takes 0.2 seconds for each name under slow.test.
module SlowResolver
  SOURCE = File.expand_path("slow_resolver.c", __dir__)

  # @yieldparam environment [Hash{String => String}] makes a process use it
  def self.open
    Dir.mktmpdir("upwell-resolver") do |folder|
      library = File.join(folder, "slow_resolver.so")
      output, status = Open3.capture2e(RbConfig::CONFIG["CC"], "-shared", "-fPIC", "-o", library, SOURCE, "-ldl")
      raise "the resolver does not compile: #{output}" unless status.success?

      yield({ "LD_PRELOAD" => library })
    end
  end
end
