# frozen_string_literal: true

require_relative "pure"
require_relative "pure/scheduler"

# The part of the module that is otherwise in C.
module Upwell
  # What this gem raises of its own.
  class Error < StandardError; end
  # A backend that is unknown or does not work here.
  class BackendError < Error; end

  Loop = Pure::Loop
  Selector = Pure::Selector
  Scheduler = Pure::Scheduler

  # @return [Array<Hash>] name [String], compiled [Boolean], works [Boolean], reason [String, nil]
  def self.backends
    [{ name: "select", compiled: true, works: true, reason: nil }]
  end

  # What the schedulers, loops and selectors of this process hold now, in all threads. Everything but `loops` is 0 when all is done and the
  # schedulers are closed; what grows without bound is a leak. Not cheap, other than with the extension: but for JRuby, it walks the whole heap,
  # about 10 ms for each million objects.
  #
  # @return [Hash{Symbol => Integer}] as with the extension; `operations` are the descriptors that `IO.select` is asked about
  def self.stats
    Pure::Stats.sum
  end

  # @return [Integer] processors of this machine
  def self.processors
    Etc.nprocessors
  end

  # What `upwell --check` tells.
  BUILD = { "ruby" => RUBY_DESCRIPTION, "extension" => "not loaded: #{LOAD_ERROR.message}" }.freeze

  # Raised by what is in C only: the servers.
  class ExtensionError < Error
    def initialize
      super("the server needs the extension in C, which was not loaded (#{LOAD_ERROR.message}): install the gem for CRuby, " \
            "on a Unix system with a C compiler (gem install upwell --platform ruby)")
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

require_relative "scheduler"
