# frozen_string_literal: true

require "open3"
require "rbconfig"
require "tmpdir"

# Processes for which shared libraries are missing.
module HiddenSharedLibraries
  SOURCE = File.expand_path("hidden_shared_libraries.c", __dir__)

  # @param names [Array<String>] sonames
  # @yieldparam environment [Hash{String => String}] of such a process
  def self.open(*names)
    Dir.mktmpdir("upwell-hidden") do |folder|
      library = File.join(folder, "hidden_shared_libraries.so")
      output, status = Open3.capture2e(RbConfig::CONFIG["CC"].split.first, "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", library, SOURCE, "-ldl")
      raise "hidden_shared_libraries.c does not compile: #{output}" unless status.success?

      yield({ "LD_PRELOAD" => library, "HIDDEN_LIBRARIES" => names.join(",") })
    end
  end
end
