# frozen_string_literal: true

# The parts of RubyGems with which libraries check the Ruby version.
module Gem
  VERSION = "3.4.0"

  # A version for comparison.
  class Version
    include Comparable

    def self.create(version)
      version.is_a?(Version) ? version : new(version)
    end

    def initialize(version)
      @version = version.to_s.strip
    end

    def segments
      @version.scan(/\d+|[a-z]+/i).map { |part| part.match?(/\A\d+\z/) ? part.to_i : part }
    end

    def <=>(other)
      mine = segments
      others = Version.create(other).segments
      [mine.size, others.size].max.times do |index|
        difference = compare(mine[index] || 0, others[index] || 0)
        return difference unless difference.zero?
      end
      0
    end

    def to_s
      @version
    end

    alias version to_s

    def release
      Version.new(@version[/\A[\d.]*\d/])
    end

    def prerelease?
      @version.match?(/[a-z]/i)
    end

    private

    def compare(one, other)
      return one <=> other if one.instance_of?(other.class)

      one.is_a?(String) ? -1 : 1
    end
  end

  def self.ruby_version
    Version.new(RUBY_VERSION)
  end

  def self.dir
    "/"
  end

  def self.path
    [dir]
  end

  def self.loaded_specs
    {}
  end

  def self.win_platform?
    false
  end
end
