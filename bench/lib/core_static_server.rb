# frozen_string_literal: true

require "open3"
require_relative "gem_installation"

module Bench
  # The stand-alone static file server of this checkout, without Ruby.
  class CoreStaticServer
    PATH = File.join(ROOT, "build/core/plain/upwell-static")

    def name
      "upwell-static"
    end

    # There is one.
    def eql?(other)
      other.is_a?(self.class)
    end

    def hash
      self.class.hash
    end

    # @raise [GemInstallation::Error]
    def install
      output, status = Open3.capture2e("make", "--no-print-directory", "-C", File.join(ROOT, "core"), "all")
      raise GemInstallation::Error, "does not compile: #{output.lines.grep(/error/i).first}" unless status.success?
    end

    # @return [Hash{String => String}]
    def environment
      {}
    end

    # @return [String]
    def versions
      "this checkout, -O2"
    end
  end
end
