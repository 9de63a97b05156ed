# frozen_string_literal: true

require "fileutils"
require "rbconfig"

# The library that has calls fail.
module FailingCallsLibrary
  SOURCE = File.join(__dir__, "failing_calls.c")
  LIBRARY = File.expand_path("../../build/system_faults/failing.so", __dir__)

  # Others may be loading it just now.
  #
  # @return [void]
  def self.build
    FileUtils.mkdir_p(File.dirname(LIBRARY))
    compiler = RbConfig::CONFIG["CC"].split.first
    new = "#{LIBRARY}.#{Process.pid}"
    system(compiler, "-std=c11", "-Wall", "-Wextra", "-O1", "-fPIC", "-shared", "-o", new, SOURCE, "-ldl", exception: true)
    File.rename(new, LIBRARY)
  end

  # @param folder [String] where a file for each call that fails is put
  # @return [Hash{String => String}]
  def self.environment(folder)
    { "LD_PRELOAD" => LIBRARY, "UPWELL_FAILING" => folder }
  end
end
