# frozen_string_literal: true

require "json"
require "open3"
require_relative "../configuration"

module Upwell
  module Opal
    # A JavaScript runtime of this machine. What is missing is told with the command that installs it; nothing is downloaded here.
    class Runtime
      # What {Runtime.find} may be asked for.
      NAMES = %i[node uwebsockets bun].freeze
      NODE_MIN = "20"
      BUN_MIN = "1.2"
      # What it is called, its oldest version that will do, and what installs a newer one. The official package, which is in no registry, first.
      PACKAGES = { "uWebSockets.js" => ["20", "npm install uNetworking/uWebSockets.js#v20.52.0"],
                   "uwebsockets" => ["3", "npm install uwebsockets"] }.freeze
      INSTALL_NODE = { "apt-get" => "apt-get install nodejs", "brew" => "brew install node", "apk" => "apk add nodejs" }.freeze
      INSTALL_NEWER_NODE = "npm install --global node@22" # a system's own may be older
      INSTALL_BUN = "npm install bun"
      NOWHERE = "neither in a node_modules of %s or a folder above"
      GLOBAL_MODULES = %w[/usr/local/lib/node_modules /usr/lib/node_modules].freeze

      # @param name [Symbol] one of {NAMES}
      # @param folder [String] the application's
      # @param environment [Hash{String => String}]
      # @return [Runtime]
      # @raise [ConfigurationError] when something is missing or too old
      def self.find(name, folder, environment = ENV)
        new(folder, environment).tap { |runtime| runtime.public_send(:"find_#{name}") }
      end

      # @return [String] the runtime's executable file
      attr_reader :path

      # @param folder [String]
      # @param environment [Hash{String => String}]
      def initialize(folder, environment = ENV)
        @folder = folder
        @environment = environment
      end

      # Finds Node.
      def find_node
        @path = executable("node") || executable("nodejs")
        refuse("node is not on the PATH; install it: #{install_node}") unless @path

        refuse_old("#{@path} is node", version_of(@path), NODE_MIN, INSTALL_NEWER_NODE)
      end

      # Finds Node and a package of uWebSockets.js.
      def find_uwebsockets
        find_node
        name = PACKAGES.keys.find { |candidate| package_file(candidate) }
        refuse("uWebSockets.js is #{NOWHERE % @folder} nor in NODE_PATH; install it there: #{PACKAGES["uwebsockets"].last}") unless name

        file = package_file(name)
        refuse_old("#{file} says", JSON.parse(File.read(file, encoding: "UTF-8")).fetch("version"), *PACKAGES[name])
      end

      # Finds Bun: that of the application first. Its package works without its install script, too.
      def find_bun
        @path = bun_of_packages || executable("bun")
        refuse("bun is #{NOWHERE % @folder} nor on the PATH; install it: #{INSTALL_BUN}") unless @path

        refuse_old("#{@path} is bun", version_of(@path), BUN_MIN, INSTALL_BUN)
      end

      # Becomes the runtime: signals and the process number are the program's own.
      #
      # @param name [String] what the process is to be called in messages
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

      def bun_of_packages
        (module_folders + node_path).flat_map { |folder| Dir[File.join(folder, "@oven", "bun-*", "bin", "bun")] }.find { |file| runs?(file) }
      end

      # There may be some for other processors.
      def runs?(file)
        version_of(file)
        true
      rescue ConfigurationError
        false
      end

      def version_of(file)
        text, status = Open3.capture2e(file, "--version")
        return text.strip.delete_prefix("v") if status.success?

        refuse("#{file} --version fails: #{text.lines.first.to_s.strip}")
      rescue SystemCallError => e
        refuse("#{file} cannot be run: #{Reason.of(e)}")
      end

      def refuse_old(what, version, oldest, remedy)
        return unless Gem::Version.new(version) < Gem::Version.new(oldest)

        refuse("#{what} #{version}, and #{oldest} or newer is needed; install it: #{remedy}")
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
        [File.expand_path("../../lib/node_modules", File.realpath(@path)), *GLOBAL_MODULES]
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
