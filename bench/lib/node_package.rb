# frozen_string_literal: true

require "fileutils"
require "open3"
require_relative "equality_by_name"
require_relative "gem_installation"

module Bench
  # One candidate's package for Node, in a folder of its own in the cache; scripts of the package are not run.
  class NodePackage
    include EqualityByName

    # @param name [String]
    # @param version [String]
    def initialize(name, version:)
      @name = name
      @version = version
    end

    # @raise [GemInstallation::Error]
    def install
      return if File.exist?(File.join(modules, @name, "package.json"))

      FileUtils.mkdir_p(folder)
      output, status = Open3.capture2e("npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", folder,
                                       "#{@name}@#{@version}")
      raise GemInstallation::Error, "does not install: #{output.lines.grep(/error/i).first}" unless status.success?
    rescue Errno::ENOENT
      raise GemInstallation::Error, "npm is not installed"
    end

    # @return [Hash{String => String}] makes node find the package
    def environment
      { "NODE_PATH" => modules }
    end

    # @return [String]
    def versions
      "#{@name} #{@version}, node #{Open3.capture2("node", "--version").first.strip}"
    end

    private

    def folder
      File.join(File.dirname(GemInstallation::CACHE), "node", "#{@name}-#{@version}")
    end

    def modules
      File.join(folder, "node_modules")
    end
  end
end
