# frozen_string_literal: true

require "digest"
require "fileutils"
require_relative "../configuration"

module Upwell
  module Opal
    # A folder of files that can be made again, each named by what it is made of. Written so that nobody sees half a file: two starts at once
    # write the same twice, one that is killed leaves nothing, a full disk costs the file alone.
    class Cache
      FILES_MAX = { "units" => 4096, "programs" => 150 }.freeze
      IN_USE = 7_200 # seconds since somebody said so: those that run do every hour

      # @return [Cache] of compiled files
      def self.units
        new("units")
      end

      # @return [Cache] of compiled programs
      def self.programs
        new("programs")
      end

      # @return [String] its folder
      attr_reader :folder

      # @param kind [String]
      def initialize(kind)
        @kind = kind
        @folder = File.join(self.class.home, "upwell", "opal", kind)
        refuse unless private?
      end

      # @return [String] where caches are kept: XDG_CACHE_HOME, or ~/.cache
      # @raise [ConfigurationError] when there is neither
      def self.home
        home = ENV["XDG_CACHE_HOME"].to_s
        home.start_with?("/") ? home : File.join(Dir.home, ".cache")
      rescue ArgumentError
        raise ConfigurationError, "there is no home folder to keep the compiled application in; name a folder in XDG_CACHE_HOME"
      end

      # @param key [Array] what the value is made of
      # @yieldreturn [Object] the value, when it is not there yet
      # @return [Object]
      def fetch(key)
        path = path_of(key)
        read(path) || yield.tap { |value| write(path, Marshal.dump(value)) }
      end

      # @param key [Array]
      # @param extension [String]
      # @return [String] the path of its file
      def path_of(key, extension = "")
        File.join(@folder, Digest::SHA256.hexdigest(Marshal.dump(key))[0, 32] + extension)
      end

      # @param path [String]
      # @return [Object, nil]
      def read(path)
        Marshal.load(File.binread(path)) # rubocop:disable Security/MarshalLoad -- the user's own folder
      rescue SystemCallError, ArgumentError, TypeError, EOFError
        nil
      end

      # @param path [String]
      # @param content [String]
      # @return [Boolean] whether it could be written
      def write(path, content)
        FileUtils.mkdir_p(@folder, mode: 0o700)
        own = "#{path}.#{Random.urandom(8).unpack1("H*")}" # containers that share the folder may have the same process number
        File.open(own, "wbx") { |file| file.write(content) }
        File.rename(own, path)
        tidy
        true
      rescue SystemCallError
        FileUtils.rm_f(own) if own
        false
      end

      # The ones that are used stay.
      #
      # @param paths [Array<String>]
      def touch(*paths)
        paths.each { |path| File.utime(nil, nil, path) }
      rescue SystemCallError
        nil # they can be read, and no more
      end

      private

      # What lies there is run: nobody else may have written it. A folder that is not there will be the user's.
      def private?
        stat = File.lstat(@folder)
        stat.directory? && stat.owned? && stat.mode.nobits?(0o022)
      rescue SystemCallError
        true
      end

      def refuse
        raise ConfigurationError,
              "compiled applications are not kept in #{@folder}, which is not this user's alone: remove it, or name another in XDG_CACHE_HOME"
      end

      # Now and then, the files that were made first go.
      def tidy
        @written = @written.to_i + 1
        return unless @written == 1

        files = Dir.children(@folder).map { |name| File.join(@folder, name) }
        excess = [files.size - FILES_MAX.fetch(@kind), 0].max
        times = files.to_h { |file| [file, File.mtime(file)] }
        old = times.select { |_, time| time < Time.now - IN_USE }
        FileUtils.rm_f(old.min_by(excess, &:last).map(&:first))
      rescue SystemCallError
        nil # another start tidies, too
      end
    end
  end
end
