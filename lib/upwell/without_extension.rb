# frozen_string_literal: true

require_relative "pure"
require_relative "pure/scheduler"

# This part of the module is in C when the extension is loaded.
module Upwell
  # The base class of this gem's errors.
  class Error < StandardError; end
  # A backend that is unknown or does not work here.
  class BackendError < Error; end

  Loop = Pure::Loop
  Selector = Pure::Selector
  Scheduler = Pure::Scheduler

  # Describes the backends.
  #
  # @return [Array<Hash>] name [String], compiled [Boolean], works [Boolean], reason [String, nil]
  def self.backends
    [{ name: "select", compiled: true, works: true, reason: nil }]
  end

  # @return [Hash{String => String}] empty: only C code needs shared libraries
  def self.missing_libraries
    {}
  end

  # Counts the objects of this process's schedulers, loops and selectors, in all threads. Everything but `loops` is 0 when all work is done and
  # the schedulers are closed; a count that grows without bound shows a leak. The call is expensive without the extension: except on JRuby,
  # it walks the whole heap, in about 10 ms per million objects.
  #
  # @return [Hash{Symbol => Integer}] as with the extension; `operations` are the descriptors that `IO.select` waits for
  def self.stats
    Pure::ObjectCounts.sum
  end

  # @return [Integer] the number of this machine's processors
  def self.processors
    Etc.nprocessors
  end

  # The build facts that `upwell --check` prints.
  BUILD = { "ruby" => RUBY_DESCRIPTION, "extension" => "not loaded: #{LOAD_ERROR.message}" }.freeze

  # Raised by classes that exist only in C: the servers.
  class ExtensionError < Error
    def initialize
      super("the server needs the C extension, which was not loaded (#{LOAD_ERROR.message}): #{remedy}")
    end

    private

    def remedy
      return "unset UPWELL_PURE" if ENV["UPWELL_PURE"] == "1"
      return "run it with CRuby" unless RUBY_ENGINE == "ruby"
      return "run it on Linux or another Unix system" if RUBY_PLATFORM.match?(/mswin|mingw/)

      explanation(Dir[File.expand_path("{.,*.*}/upwell.{so,bundle}", __dir__)])
    end

    # RubyGems prefers an installed precompiled gem to a gem that was compiled here.
    def explanation(files)
      "#{missing(files)}compile the gem here (gem uninstall -ax upwell; gem install upwell --platform ruby)"
    end

    def missing(files)
      return "install a C compiler, then " if files.empty?

      LOAD_ERROR.message.start_with?("cannot load such file") ? "the gem has none for Ruby #{RUBY_VERSION}; " : "install what is missing, or "
    end
  end

  # The server of Rack applications.
  class Reactor
    # @raise [Upwell::ExtensionError] always
    def initialize(*)
      raise ExtensionError
    end
  end

  # The server of files.
  class StaticReactor < Reactor; end
end
