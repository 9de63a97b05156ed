# frozen_string_literal: true

module Upwell
  module Opal
    class Build
      # Finds the file of a feature. Each file has one name, whichever way it is required: its path beneath a load path, or else its
      # absolute path.
      class Sources
        EXTENSIONS = [".rb", ".js"].freeze

        # @return [Array<String>] load paths, in the order in which they are searched
        attr_reader :paths

        # @param paths [Array<String>]
        # @param gem_paths [GemPaths]
        def initialize(paths, gem_paths)
          @paths = paths
          @gem_paths = gem_paths
          @found = {}
        end

        # @param feature [String]
        # @return [String, nil] the path of its file
        def expand(feature)
          @found.fetch(feature) { @found[feature] = find(feature) }
        end

        # @param feature [String]
        # @return [String, nil] its source
        def read(feature)
          path = expand(feature)
          path && File.read(path, encoding: "UTF-8")
        end

        # @return [Array<String>]
        def extensions
          EXTENSIONS
        end

        private

        def find(feature)
          return file(feature) if feature.start_with?("/")

          in_paths(@paths, feature) || in_paths(more_paths(feature), feature)
        end

        def more_paths(feature)
          new = @gem_paths.for(feature) - @paths
          @paths.concat(new)
          new
        end

        def in_paths(paths, feature)
          paths.each { |path| (found = file(File.join(path, feature))) && (return found) }
          nil
        end

        def file(path)
          ["", *EXTENSIONS].map { |extension| "#{path}#{extension}" }.find { |name| EXTENSIONS.include?(File.extname(name)) && File.file?(name) }
        end
      end
    end
  end
end
