# frozen_string_literal: true

require "io/wait"
require "ipaddr"
require "socket"
require_relative "scheduler/forked_end"
require_relative "scheduler/offloading"
require_relative "scheduler/popen" unless Upwell::Scheduler.method_defined?(:io_close) # by which Ruby tells of whatever it closes
require_relative "scheduler/worker_pool"

module Upwell
  # The hooks that are better written in Ruby; the others are in ext/upwell/scheduler_*.c.
  class Scheduler
    POLL_PAUSE_MIN = 0.001 # seconds between looks for a child that no descriptor tells of, each twice the last
    POLL_PAUSE_MAX = 0.05
    private_constant :POLL_PAUSE_MIN, :POLL_PAUSE_MAX

    # @return [Array<String>] the backends that work here, the preferred first
    def self.backends
      Upwell.backends.select { |backend| backend[:works] }.map { |backend| backend[:name] }
    end

    # @param backend [String, Symbol, nil] one of {.backends}; nil is the first of them
    # @param offload [Boolean] whether what Ruby can do without its lock is done on threads: compression of much at once, files on slow disks.
    #   What takes microseconds, as File.stat does mostly, takes ten times as long there. Since Ruby 3.4; before, nothing is handed over
    # @raise [BackendError] when it is unknown or does not work here
    # @raise [Error] on a JRuby before 10.1, which would not ask it
    def initialize(backend: ENV.fetch("UPWELL_BACKEND", nil), offload: false)
      choose(backend&.to_s)
      extend(Offloading) if offload && RUBY_VERSION >= "3.4"
      @workers = WorkerPool.new
      ForkedEnd.prepare
      @mappings_max = mappings_max
    end

    # For everything that looks a host's name up: done on a thread, as the system's resolver blocks.
    #
    # @param hostname [String]
    # @return [Array<String>, nil] numeric addresses; nil when there are none
    def address_resolve(hostname)
      return [hostname] if numeric?(hostname)

      @workers.call { resolve(hostname) }
    end

    # Asked by the first task of the gem async, which brings what its tasks need.
    #
    # @param task [Async::Node]
    # @return [void]
    def add_child(task)
      require_relative "scheduler/tasks"
      tasks.add_child(task)
    end

    private

    def numeric?(hostname)
      IPAddr.new(hostname.split("%", 2).first)
      true
    rescue IPAddr::Error, NoMethodError
      false
    end

    def resolve(hostname)
      Addrinfo.getaddrinfo(hostname, nil, nil, :STREAM).map(&:ip_address).uniq
    rescue SocketError
      nil
    end

    # At its end.
    def end_workers
      @workers&.close
    end

    # A thread that blocks instead may take a child's status when nobody waits for it any more: Ruby 3.1 runs no `ensure` in the fibers of a
    # thread that is killed.
    def poll_process(pid, flags)
      pause = POLL_PAUSE_MIN
      until (status = Process::Status.wait(pid, flags | Process::WNOHANG))
        kernel_sleep(pause)
        pause = [pause * 2, POLL_PAUSE_MAX].min
      end
      status
    end

    # Where the kernel's limit is known, the error names it. It was read before: where a fiber has no stack, a thread has none either, and Ruby
    # 3.4 would open the file on one.
    def raise_without_stack(error)
      raise error unless @mappings_max

      raise FiberError, "no stack for another fiber beside the #{stats[:fibers]} that there are (#{error.message}): a process may have " \
                        "#{@mappings_max} memory mappings, of which each fiber takes two; raise the limit, " \
                        "sysctl -w vm.max_map_count=#{@mappings_max * 16}"
    end

    def mappings_max
      Integer(File.read("/proc/sys/vm/max_map_count"))
    rescue SystemCallError
      nil
    end

    def report(error)
      return unless Thread.current.report_on_exception

      $stderr.write("#{Fiber.current.inspect} terminated with exception (report_on_exception is true):\n#{error.full_message}")
    end
  end
end
