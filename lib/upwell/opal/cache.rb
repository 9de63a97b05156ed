# frozen_string_literal: true

require "digest"
require "fileutils"
require_relative "../configuration"

module Upwell
  module Opal
    # A cache directory. Each file is named by a digest of its inputs. Files are written atomically: concurrent starts write the same content,
    # a killed start leaves no damaged file, and a full disk loses only that file.
    class Cache
      FILES_MAX = { "units" => 4096, "programs" => 150 }.freeze
      IN_USE = 7_200 # seconds since the last use: running programs touch their files every hour

      # @return [Cache] of compiled files
      def self.units
        new("units")
      end

      # @return [Cache] of compiled programs
      def self.programs
        new("programs")
      end

      # @return [String] the directory
      attr_reader :folder

      # @param kind [String]
      def initialize(kind)
        @kind = kind
        @folder = File.join(self.class.home, "upwell", "opal", kind)
        refuse unless private?
      end

      # @return [String] the directory of all caches: XDG_CACHE_HOME, or ~/.cache
      # @raise [ConfigurationError] when there is neither
      def self.home
        home = ENV["XDG_CACHE_HOME"].to_s
        home.start_with?("/") ? home : File.join(Dir.home, ".cache")
      rescue ArgumentError
        raise ConfigurationError, "the user has no home directory for the compiled application; set XDG_CACHE_HOME to a directory"
      end

      # Reads a value, or computes and stores it.
      #
      # @param key [Array] the inputs of the value
      # @yieldreturn [Object] the value, if it is not stored yet
      # @return [Object]
      def fetch(key)
        path = path_of(key)
        read(path) || yield.tap { |value| write(path, Marshal.dump(value)) }
      end

      # Finds the file for a key.
      #
      # @param key [Array]
      # @param extension [String]
      # @return [String] the path of its file
      def path_of(key, extension = "")
        File.join(@folder, Digest::SHA256.hexdigest(Marshal.dump(key))[0, 32] + extension)
      end

      # Reads a stored value.
      #
      # @param path [String]
      # @return [Object, nil]
      def read(path)
        Marshal.load(File.binread(path)) # rubocop:disable Security/MarshalLoad -- the user's own folder
      rescue SystemCallError, ArgumentError, TypeError, EOFError
        nil
      end

      # Writes a file atomically.
      #
      # @param path [String]
      # @param content [String]
      # @return [Boolean] whether the file could be written
      def write(path, content)
        FileUtils.mkdir_p(@folder, mode: 0o700)
        own = "#{path}.#{Random.urandom(8).unpack1("H*")}" # process ids may be equal in containers that share the directory
        File.open(own, "wbx") { |file| file.write(content) }
        File.rename(own, path)
        tidy
        true
      rescue SystemCallError
        FileUtils.rm_f(own) if own
        false
      end

      # Marks files as used, so that they are kept.
      #
      # @param paths [Array<String>]
      def touch(*paths)
        paths.each { |path| File.utime(nil, nil, path) }
      rescue SystemCallError
        nil # the files may be read-only
      end

      private

      # The files are executed, so no other user may write them. A missing directory is created for this user.
      def private?
        stat = File.lstat(@folder)
        stat.directory? && stat.owned? && stat.mode.nobits?(0o022)
      rescue SystemCallError
        true
      end

      def refuse
        raise ConfigurationError,
              "the cache directory #{@folder} must belong to this user alone; remove it, or set XDG_CACHE_HOME to another directory"
      end

      # Removes the oldest files, once per process.
      def tidy
        @written = @written.to_i + 1
        return unless @written == 1

        files = Dir.children(@folder).map { |name| File.join(@folder, name) }
        excess = [files.size - FILES_MAX.fetch(@kind), 0].max
        times = files.to_h { |file| [file, File.mtime(file)] }
        old = times.select { |_, time| time < Time.now - IN_USE }
        FileUtils.rm_f(old.min_by(excess, &:last).map(&:first))
      rescue SystemCallError
        nil # another process removes them, too
      end
    end
  end
end
