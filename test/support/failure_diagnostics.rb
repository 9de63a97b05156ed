# frozen_string_literal: true

# What a server was at when a test of it failed: what it had printed, where its threads are in the kernel, what its rings of io_uring wait for
# and have not told, and what is on its sockets. What hangs once in a thousand runs is found by that alone.
class FailureDiagnostics
  PRINTED_MAX = 4096 # characters
  OF_THREADS = %w[comm wchan syscall schedstat stack].freeze # schedstat: nanoseconds that it ran, and that it waited for a processor

  # @param pid [Integer]
  # @param port [Integer]
  # @param printed [Array<String>]
  def initialize(pid, port, printed)
    @pid = pid
    @port = port
    @printed = printed.map(&:b)
  end

  # @return [String]
  def to_s
    ["#{@pid} on port #{@port} was at:", @printed.join[-PRINTED_MAX..] || @printed.join, *threads, *rings, *sockets].join("\n")
  end

  private

  def threads
    Dir.glob("/proc/#{@pid}/task/*").map { |task| OF_THREADS.flat_map { |name| content("#{task}/#{name}").split }.join(" ") }
  end

  def rings
    numbers = Dir.glob("/proc/#{@pid}/fd/*").select { |path| link(path).include?("io_uring") }.map { |path| File.basename(path) }
    numbers.map { |number| "ring #{number}: #{content("/proc/#{@pid}/fdinfo/#{number}").split.join(" ")}" }
  end

  # Of both sides: state, and what waits to be sent and to be read.
  def sockets
    rows = %w[tcp tcp6].flat_map { |name| content("/proc/net/#{name}").lines }
    rows.filter_map { |row| row.split.values_at(1, 2, 3, 4).join(" ") if row.include?(format(":%04X ", @port)) }
  end

  def link(path)
    File.readlink(path)
  rescue SystemCallError
    "" # closed meanwhile
  end

  def content(path)
    File.read(path).strip
  rescue SystemCallError => e
    e.message
  end
end
