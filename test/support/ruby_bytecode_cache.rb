# frozen_string_literal: true

# Ruby needs a fifth of a server's start to parse and compile. The tests compile these files once, and their child processes load the result.
# A process that finds a changed source compiles the source itself.
module RubyBytecodeCache
  LIBRARY = File.expand_path("../../lib", __dir__)
  FOLDER = File.expand_path("../../tmp/ruby_bytecode_cache/#{RUBY_VERSION}p#{RUBY_PATCHLEVEL}-#{RUBY_PLATFORM}", __dir__)
  # Servers and the applications of the tests load these files, and what these files require.
  USED = %w[upwell/cli upwell/pub_sub rack rack/builder rack/files rack/lint json net/http open3 tempfile tmpdir].freeze

  # For RubyVM::InstructionSequence: `require` and `load` call this method first.
  module Loader
    def load_iseq(source)
      load_from_binary(File.binread(RubyBytecodeCache.path(source))) if RubyBytecodeCache.fresh?(source)
    rescue SystemCallError
      nil # for example, the user of the process cannot read the folder
    end
  end

  class << self
    def path(source)
      File.join(FOLDER, source.tr("/", "%"))
    end

    # @return [Boolean] whether the compiled file belongs to the source as it is now
    def fresh?(source)
      File.mtime(path(source)) == File.mtime(source)
    rescue SystemCallError
      false
    end

    # Compiles in a process of its own, which loads the files as a server does, unless all compiled files are fresh.
    #
    # @param environment [Hash{String => String}] of a server
    def prepare(environment)
      return if (library - known).empty? && known.all? { |source| fresh?(source) }

      system(environment, RbConfig.ruby, "-I#{LIBRARY}", "-r#{__FILE__}", "-e", "RubyBytecodeCache.compile", exception: true)
    end

    # Compiles the library, and all that this process has loaded.
    def compile
      require "fileutils"
      USED.each { |name| require name }
      FileUtils.mkdir_p(FOLDER)
      known.each { |source| FileUtils.rm_f(path(source)) unless fresh?(source) }
      (library + $LOADED_FEATURES.grep(/\.rb\z/)).each { |source| write(source) unless fresh?(source) || !File.file?(source) }
    end

    private

    def library
      Dir.glob("#{LIBRARY}/**/*.rb")
    end

    def known
      Dir.glob("*.rb", base: FOLDER).map { |name| name.tr("%", "/") }
    end

    # Two runs may write the same file at once: each renames a complete one.
    def write(source)
      unfinished = "#{path(source)}.#{Process.pid}"
      File.binwrite(unfinished, RubyVM::InstructionSequence.compile_file(source).to_binary)
      File.utime(Time.now, File.mtime(source), unfinished)
      File.rename(unfinished, path(source))
    end
  end
end

RubyVM::InstructionSequence.singleton_class.prepend(RubyBytecodeCache::Loader) if defined?(RubyVM::InstructionSequence)
