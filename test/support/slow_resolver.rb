# frozen_string_literal: true

require "open3"
require "rbconfig"
require "tmpdir"

# A resolver for processes of the tests that takes 0.2 seconds for each name under slow.test, or as long as the test says.
module SlowResolver
  SOURCE = File.expand_path("slow_resolver.c", __dir__)

  # @yieldparam environment [Hash{String => String}] makes a process use it
  def self.open
    Dir.mktmpdir("upwell-resolver") do |folder|
      library = File.join(folder, "slow_resolver.so")
      output, status = Open3.capture2e(RbConfig::CONFIG["CC"], "-shared", "-fPIC", "-o", library, SOURCE, "-ldl")
      raise "the resolver does not compile: #{output}" unless status.success?

      yield({ "LD_PRELOAD" => library })
    end
  end

  # @yieldparam environment [Hash{String => String}] makes a process use it, in which each lookup waits for {Held#release}
  # @yieldparam held [Held]
  def self.hold
    open do |environment|
      Dir.mktmpdir("upwell-lookups") do |folder|
        held = Held.new(folder)
        yield environment.merge(held.environment), held
      ensure
        held&.close
      end
    end
  end

  # Lookups that have begun, and go on together.
  class Held
    PATIENCE = 20 # seconds

    # @param folder [String] for its pipes
    def initialize(folder)
      @paths = %w[begun release].map { |name| File.join(folder, name) }
      @paths.each { |path| File.mkfifo(path) }
      @begun = File.open(@paths.first, "r+")
    end

    def environment
      %w[SLOW_RESOLVER_BEGUN SLOW_RESOLVER_RELEASE].zip(@paths).to_h
    end

    # Waits until so many are under way, or for so long as nobody takes.
    #
    # @return [Integer] how many are
    def await(count)
      found = 0
      found += @begun.readpartial(count).bytesize while found < count && @begun.wait_readable(PATIENCE)
      found
    end

    # From now on they wait for nothing.
    def release
      @release = File.open(@paths.last, "r+")
    end

    def close
      [@begun, @release].compact.each(&:close)
    end
  end
end
