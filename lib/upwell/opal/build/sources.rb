# frozen_string_literal: true

module Upwell
  module Opal
    class Build
      # Finds the file of a feature. Each file has one name, whichever way it is required: its path beneath a load path, as "rack/utils.rb";
      # in the application's folder "~/lib/thing.rb".
      class Sources
        EXTENSIONS = [".rb", ".js"].freeze
        OWN = "~/"
        # A feature that is required by a path: its one name depends on where the application and the gems lie.
        PATH = %r!\brequire\b[\s(]*(?:["']|%[qQ]?[^\w\s])\.{0,2}/!n

        # @param paths [Array<String>] load paths, in the order in which they are searched
        # @param gem_paths [GemPaths]
        # @param root [String] the application's folder
        # @param stamps [Stamps] get the files that are found, and where others were looked for before
        def initialize(paths, gem_paths, root, stamps)
          @paths = paths
          @gem_paths = gem_paths
          @root = root
          @stamps = stamps
          @found = {}
          @folders = Hash.new { |folders, path| folders[path] = File.directory?(path) ? path : folders[File.dirname(path)] }
        end

        # @param feature [String] as it is required
        # @return [String, nil] the path of its file
        def path(feature)
          @found.fetch(feature) { @found[feature] = find(feature).tap { |path| @stamps.note(path) if path } }
        end

        # @param feature [String]
        # @return [String] its file's name
        def name(feature)
          File.extname(feature) == File.extname(path(feature)) ? feature : "#{feature}#{File.extname(path(feature))}"
        end

        # @param feature [String] as it is required, perhaps by a path; one that begins with a point is of the application's folder, wherever
        #   it is compiled, as it is when the program runs
        # @return [String] the same, by the file's one name
        def canonical(feature)
          feature = File.expand_path(feature, @root) if feature.start_with?("./", "../")
          return feature unless feature.start_with?("/")

          home = @paths.find { |path| feature.start_with?("#{path}/") }
          return feature.delete_prefix("#{home}/") if home

          feature.start_with?("#{@root}/") ? feature.sub("#{@root}/", OWN) : feature
        end

        # @param source [String] Ruby
        # @return [Array<String>] the folders that the names of what it requires depend on
        def folders(source)
          source.b.match?(PATH) ? [@root, *@paths] : []
        end

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

        # The folder in which the file is not, or would be made, changes when it comes there.
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
