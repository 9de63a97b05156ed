# frozen_string_literal: true

require "etc"
require "open3"

module Bench
  # The machine that figures come from.
  module Machine
    module_function

    # @return [Hash{String => String}]
    def description
      {
        "Ruby" => `#{RbConfig.ruby} --yjit -v 2>&1`.strip, "kernel" => Etc.uname.values_at(:sysname, :release, :machine).join(" "),
        "CPU" => "#{File.read("/proc/cpuinfo")[/^model name\s*:\s*(.*)/, 1]}, #{Etc.nprocessors} cores",
        "load generator" => wrk
      }
    end

    # @return [String]
    def wrk
      Open3.capture2e("wrk", "-v").first[/wrk \S+/]
    rescue Errno::ENOENT
      "wrk is not installed"
    end
  end
end
