# frozen_string_literal: true

require "json"
require "English"
require_relative "../configuration"

module Upwell
  module Opal
    # A JavaScript runtime on this machine. If a part is missing, the error names the command that installs it. Nothing is downloaded.
    class Runtime
      # Names for {Runtime.find}.
      NAMES = %i[node uwebsockets bun].freeze
      NODE_MIN = "20"
      BUN_MIN = "1.2"
      # Packages of uWebSockets.js, with the oldest supported version and npm's argument. The official package comes first; no registry has it.
      PACKAGES = { "uWebSockets.js" => ["20", "uNetworking/uWebSockets.js#v20.52.0"], "uwebsockets" => ["3", "uwebsockets@latest"] }.freeze
      INSTALL_NODE = { "apt-get" => "apt-get install nodejs npm", "brew" => "brew install node", "apk" => "apk add nodejs npm" }.freeze
      NEWER_NODE = "node@22" # npm's package, for systems with an older Node
      # Paths of the programs in npm's packages. Bun's install script moves its program from the first path to the second, which holds
      # a failing script before.
      NODE_FILES = ["node/bin/node"].freeze
      BUN_FILES = ["@oven/bun-*/bin/bun", "bun/bin/bun.exe"].freeze
      NOWHERE = "was not found in a node_modules of %s or a directory above"
      GLOBAL_MODULES = %w[/usr/local/lib/node_modules /usr/lib/node_modules].freeze

      # Finds a runtime.
      #
      # @param name [Symbol] one of {NAMES}
      # @param folder [String] the application's directory
      # @param environment [Hash{String => String}]
      # @return [Runtime]
      # @raise [ConfigurationError] when a part is missing or too old
      def self.find(name, folder, environment = ENV)
        new(folder, environment).tap { |runtime| runtime.public_send(:"find_#{name}") }
      end

      # @return [String] the runtime's executable file
      attr_reader :path

      # @param folder [String]
      # @param environment [Hash{String => String}]
      def initialize(folder, environment = ENV)
        @folder = File.expand_path(folder)
        @environment = environment
      end

      # Finds Node, first in the application's packages.
      def find_node
        @path = program_of_packages(NODE_FILES) || executable("node") || executable("nodejs")
        refuse("node is not on the PATH; install it: #{install_node}") unless @path

        refuse_old("#{@path} is node", version_of(@path), NODE_MIN, NEWER_NODE)
      end

      # Finds Node and a package of uWebSockets.js.
      def find_uwebsockets
        find_node
        name = PACKAGES.keys.find { |candidate| package_file(candidate) }
        refuse("uWebSockets.js #{NOWHERE % @folder}, or in NODE_PATH; #{install("uwebsockets")}") unless name

        file = package_file(name)
        refuse_old("#{file} has the version", JSON.parse(File.read(file, encoding: "UTF-8")).fetch("version"), *PACKAGES[name])
      end

      # Finds Bun, first in the application's packages. Bun's package also works without its install script.
      def find_bun
        @path = program_of_packages(BUN_FILES) || executable("bun")
        refuse("bun #{NOWHERE % @folder}, or on the PATH; #{install("bun")}") unless @path

        refuse_old("#{@path} is bun", version_of(@path), BUN_MIN, "bun@latest")
      end

      # Executes the runtime in place of this process (execve(2)), so that signals and the process id belong to the program.
      #
      # @param name [String] the process's name in messages
      # @param program [String] a JavaScript file
      # @param arguments [Array<String>]
      def become(name, program, arguments)
        modules = (module_folders.select { |folder| File.directory?(folder) } + node_path).uniq.join(File::PATH_SEPARATOR)
        exec({ "NODE_PATH" => modules, "UPWELL_RUBY" => RbConfig.ruby }, [path, name], program, *arguments)
      end

      private

      def executable(name)
        folders = @environment.fetch("PATH", "").split(File::PATH_SEPARATOR)
        folders.map { |folder| File.join(folder, name) }.find { |file| File.file?(file) && File.executable?(file) }
      end

      def program_of_packages(files)
        (module_folders + node_path).flat_map { |folder| Dir[*files, base: folder].map { |file| File.join(folder, file) } }
          .find { |file| runs?(file) }
      end

      # The program may be for another processor.
      def runs?(file)
        version_of(file)
        true
      rescue ConfigurationError
        false
      end

      def version_of(file)
        text = IO.popen([file, "--version", { err: %i[child out] }], &:read)
        return text.strip.delete_prefix("v") if $CHILD_STATUS.success?

        refuse("#{file} --version fails: #{text.lines.first.to_s.strip}; install the program again")
      rescue SystemCallError => e
        refuse("#{file} cannot be run: #{ErrnoText.of(e)}; install the program again")
      end

      def refuse_old(what, version, oldest, package)
        return unless Gem::Version.new(version) < Gem::Version.new(oldest)

        refuse("#{what} #{version}, but the server needs #{oldest} or newer; #{install(package)}")
      end

      def package_file(name)
        places = module_folders + node_path + global_modules
        places.map { |folder| File.join(folder, name, "package.json") }.find { |file| File.file?(file) }
      end

      def module_folders
        parts = File.expand_path(@folder).split("/")
        parts.size.downto(1).map { |count| File.join(*parts.first(count), "/node_modules") }
      end

      def node_path
        @environment.fetch("NODE_PATH", "").split(File::PATH_SEPARATOR)
      end

      def global_modules
        [@path, executable("node")].compact.map { |path| File.expand_path("../../lib/node_modules", File.realpath(path)) } + GLOBAL_MODULES
      end

      # The package goes into the application's directory, because npm does not overwrite a globally installed program of another origin.
      def install(package)
        command = "in #{@folder}: npm install #{package}"
        executable("npm") ? "install it #{command}" : "install npm (#{install_node}), and then #{command}"
      end

      def install_node
        INSTALL_NODE.find { |tool, _command| executable(tool) }&.last || "see nodejs.org"
      end

      def refuse(sentence)
        raise ConfigurationError, sentence
      end
    end
  end
end
