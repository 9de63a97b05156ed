# frozen_string_literal: true

require "rbconfig"
require_relative "../../bench/lib/process_usage"
require_relative "../support/sanitizers"

module Torture
  # A process that tortures one backend. When nothing is heard of it for long, not even its watch runs any more: Ruby then tells where it is.
  class TorturedProcess
    SILENCE_MAX = 120 # seconds, of which it may take half to find out itself
    LAST_WORDS_MAX = 20 # seconds
    FOLDER = File.expand_path(__dir__)

    # @param arguments [Array<String>] of one_backend.rb
    # @param sanitized [Boolean] with the extension of `rake compile:sanitized`
    def initialize(*arguments, sanitized:)
      @arguments = arguments
      @environment = { "MALLOC_ARENA_MAX" => "1", "UPWELL_PURE" => arguments.first == "pure" ? "1" : nil }
      @libraries = [File.join(FOLDER, "../../lib")]
      sanitize if sanitized
    end

    # @return [Boolean]
    def survives?
      @output = IO.popen([@environment, *command], err: %i[child out])
      end_it unless listen(SILENCE_MAX)
      @output.close
      $?.success? || false # rubocop:disable Style/SpecialGlobalVars -- of this thread
    end

    private

    def sanitize
      @environment.update(Sanitizers::ENVIRONMENT)
      @libraries.unshift(Sanitizers::BUILT)
    end

    def command
      [RbConfig.ruby, "-W0", *@libraries.map { |folder| "-I#{folder}" }, File.join(FOLDER, "one_backend.rb"), *@arguments]
    end

    # @return [Boolean] whether it has ended
    def listen(silence_max)
      while @output.wait_readable(silence_max)
        line = @output.gets or return true
        puts line
      end
      false
    end

    def end_it
      puts "#{@arguments.first}: FAILED: nothing is heard of it"
      pids = Bench::ProcessUsage.pids_of_tree(@output.pid)
      Process.kill("SEGV", @output.pid)
      listen(LAST_WORDS_MAX)
      pids.each { |pid| kill(pid) }
    end

    def kill(pid)
      Process.kill("KILL", pid)
    rescue Errno::ESRCH
      nil
    end
  end
end
