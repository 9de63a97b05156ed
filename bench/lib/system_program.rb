# frozen_string_literal: true

require "open3"
require_relative "equality_by_name"
require_relative "gem_installation"

module Bench
  # A program of the system's own packages: it is there, or is reported as missing.
  class SystemProgram
    include EqualityByName

    # @param name [String]
    # @param version [String] the option that makes it tell its version
    def initialize(name, version:)
      @name = name
      @version = version
    end

    # @raise [GemInstallation::Error] when it is not there
    def install
      raise GemInstallation::Error, "is not installed" if versions.empty?
    end

    # @return [Hash{String => String}]
    def environment
      {}
    end

    # @return [String] empty when it is not there
    def versions
      @versions ||= Open3.capture2e(@name, @version).first.lines.first.to_s.strip
    rescue Errno::ENOENT
      ""
    end
  end
end
