# frozen_string_literal: true

require "json"
require_relative "../support/server_process"
require_relative "client_connection"

module RequestIsolation
  # The server under test: its output is read all the time, and what it is made of can be counted.
  class Server < ServerProcess
    APP = File.join(__dir__, "application.ru")
    BAD = /ISOLATION FAULT|\[BUG\]|\[FATAL\]|Sanitizer|[Aa]ssertion|terminated with exception|Segmentation|fatal| died: /
    FAILURE = /: Error during \w+ \/(\w+)\/(c\d+n\d+)\b[^:]*: (.*)/ # a time and the process come before
    ALL_ASKED_MAX = 60 # seconds, until each worker has been asked
    LINES_BEFORE = 100 # kept of those before the bad one
    LINES_AFTER = 120

    # @return [String, nil] the first line that must not be
    attr_reader :bad
    # @return [Integer] logged exceptions whose id was compared with that of their request
    attr_reader :exceptions_compared

    def initialize(mode, backend, workers)
      @exceptions_compared = 0
      super("--mode", mode, "--backend", backend, "-w", workers.to_s, app: APP)
      @reader = Thread.new { @output.each_line { |line| look_at(line) } }
    end

    # Those that serve.
    def processes
      found = workers
      found.empty? ? [pid] : found
    end

    # @return [Hash{Integer => Hash}] by process: what its application says is left
    def rests
      states = {}
      deadline = now + ALL_ASKED_MAX
      until (processes - states.keys).empty?
        raise Violation, "of the workers #{processes} only #{states.keys} accept" if now > deadline

        wire = ClientConnection.new(port)
        wire.write("GET /rest HTTP/1.1\r\nHost: isolation\r\n\r\n")
        length = 0
        while (line = wire.line) != "" do length = line[/\Acontent-length: (\d+)/i, 1]&.to_i || length end
        text = +""
        wire.read(length) { |piece| text << piece }
        state = JSON.parse(text, symbolize_names: true)
        states[state[:pid]] = state.merge(counts(state[:pid]))
        wire.close
      end
      states
    end

    # @return [Process::Status]
    def await_end
      deadline = now + 60
      until (@status = Process.wait2(pid, Process::WNOHANG)&.last)
        raise Violation, "the server did not end after SIGTERM" if now > deadline

        sleep 0.02
      end
      @reader.join(5)
      @status
    end

    # What it said at last, or about the first thing that must not be.
    def last_lines
      @reader.join(1)
      lines.join
    end

    private

    def counts(process)
      { descriptors: Dir.children("/proc/#{process}/fd").size, kilobytes: File.read("/proc/#{process}/status")[/VmRSS:\s+(\d+)/, 1].to_i }
    end

    def look_at(line)
      lines << line if lines.size <= LINES_BEFORE + LINES_AFTER
      @bad ||= line if line.match?(BAD) || mixes_up?(line)
      lines.shift if !@bad && lines.size > LINES_BEFORE
    end

    # An exception that has its client's id, logged for the request of another.
    def mixes_up?(line)
      match = line.scrub.match(FAILURE) or return false
      id = match[3][/c\d+n\d+/] or return false
      @exceptions_compared += 1
      id != match[2]
    end
  end
end
