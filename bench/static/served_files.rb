# frozen_string_literal: true

require "fileutils"
require_relative "../lib/gem_installation"

module Bench
  module Static
    # A file to be served.
    Size = Struct.new(:name, :bytes, :title) do
      def path
        "/#{name}.html"
      end

      # @return [String] the same at each call
      def content
        @content ||= Random.new(bytes).bytes(bytes)
      end
    end

    SIZES = [Size.new("1k", 1024, "1 KiB"), Size.new("16k", 16_384, "16 KiB"), Size.new("100k", 102_400, "100 KiB"),
             Size.new("1m", 1_048_576, "1 MiB"), Size.new("10m", 10_485_760, "10 MiB")].freeze

    # The folder that all candidates serve.
    module ServedFiles
      ROOT = File.join(GemInstallation::CACHE, "site")
      MODIFIED = Time.utc(2026, 1, 2, 3, 4, 5)

      # Writes the files, unless they are there.
      def self.make
        FileUtils.mkdir_p(ROOT)
        SIZES.each do |size|
          file = File.join(ROOT, size.path)
          File.binwrite(file, size.content) unless File.size?(file) == size.bytes
          File.utime(MODIFIED, MODIFIED, file)
        end
      end
    end
  end
end
