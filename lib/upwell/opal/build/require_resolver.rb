# frozen_string_literal: true

module Upwell
  module Opal
    class Build
      # Finds the file of a feature. Each file has one canonical name, however it is required: its path below a load path ("rack/utils.rb"), or
      # in the application's directory "~/lib/thing.rb".
      class RequireResolver
        EXTENSIONS = [".rb", ".js"].freeze
        OWN = "~/"
        # A feature required by a path: its canonical name depends on the directories of the application and the gems.
        PATH = %r!\brequire\b[\s(]*(?:["']|%[qQ]?[^\w\s])\.{0,2}/!n

        # @param paths [Array<String>] load paths, in search order
        # @param gem_paths [GemPaths]
        # @param root [String] the application's directory
        # @param stamps [Stamps] receives the files that are found, and the places where files were missing
        def initialize(paths, gem_paths, root, stamps)
          @paths = paths
          @gem_paths = gem_paths
          @root = root
          @stamps = stamps
          @found = {}
          @folders = Hash.new { |folders, path| folders[path] = File.directory?(path) ? path : folders[File.dirname(path)] }
        end

        # Finds the file of a feature.
        #
        # @param feature [String] as it is required
        # @return [String, nil] the path of its file
        def path(feature)
          @found.fetch(feature) { @found[feature] = find(feature).tap { |path| @stamps.note(path) if path } }
        end

        # Finds the canonical name of a feature's file.
        #
        # @param feature [String]
        # @return [String] the file's canonical name
        def name(feature)
          File.extname(feature) == File.extname(path(feature)) ? feature : "#{feature}#{File.extname(path(feature))}"
        end

        # Converts a feature to its canonical name.
        #
        # @param feature [String] as it is required, perhaps by a path; a feature that begins with a dot belongs to the application's directory,
        #   at compile time as at run time
        # @return [String] the feature by the file's canonical name
        def canonical(feature)
          feature = File.expand_path(feature, @root) if feature.start_with?("./", "../")
          return feature unless feature.start_with?("/")

          home = @paths.find { |path| feature.start_with?("#{path}/") }
          return feature.delete_prefix("#{home}/") if home

          feature.start_with?("#{@root}/") ? feature.sub("#{@root}/", OWN) : feature
        end

        # Finds the directories on which the names of required features depend.
        #
        # @param source [String] Ruby
        # @return [Array<String>] directories that affect the canonical names of its features
        def folders(source)
          source.b.match?(PATH) ? [@root, *@paths] : []
        end

        # Finds the load path that contains a directory.
        #
        # @param folder [String] beneath a load path, as "roda/plugins/"
        # @return [String, nil] the load path
        def home(folder)
          @paths.find { |path| File.directory?(File.join(path, folder)) }
        end

        private

        def find(feature)
          return own(feature) if feature.start_with?(OWN)
          return file(feature) if feature.start_with?("/")

          in_paths(@paths, feature) || in_paths(more_paths(feature), feature) || own("#{OWN}lib/#{feature}")
        end

        def own(feature)
          path = File.join(@root, feature.delete_prefix(OWN))
          found = file(path)
          @stamps.note(*candidates(path)) unless found
          found
        end

        def more_paths(feature)
          new = @gem_paths.for(feature) - @paths
          @paths.concat(new)
          new
        end

        # A directory without the file changes when the file is added, and so does the parent of a missing directory.
        def in_paths(paths, feature)
          paths.each do |path|
            candidate = File.join(path, feature)
            found = file(candidate) and return found

            @stamps.note(@folders[File.dirname(candidate)])
          end
          nil
        end

        def file(path)
          candidates(path).find { |candidate| File.file?(candidate) }
        end

        def candidates(path)
          EXTENSIONS.include?(File.extname(path)) ? [path] : EXTENSIONS.map { |extension| "#{path}#{extension}" }
        end
      end
    end
  end
end
