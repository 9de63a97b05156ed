# frozen_string_literal: true

require "etc"
require "open3"
require_relative "installation"

module Bench
  # The machine and the versions a report names.
  module Facts
    class << self
      # @return [Hash{String => String}]
      def gather(candidates)
        { "Ruby" => RUBY_DESCRIPTION, "Kernel" => Etc.uname.fetch(:release), "Processor" => "#{processor}, #{Etc.nprocessors} cores", "wrk" => wrk,
          "Gems" => candidates.map(&:gem_name).uniq.map { |gem_name| Installation.new(gem_name).versions }.reject(&:empty?).join("; ") }
      end

      private

      def processor
        File.read("/proc/cpuinfo")[/^model name\s*: (.*)/, 1] || "unknown"
      end

      def wrk
        Open3.capture2e("wrk", "-v").first[/^wrk (\S+)/, 1] || "unknown"
      end
    end
  end
end
