# frozen_string_literal: true

require "io/wait"
require "ipaddr"
require "socket"
require_relative "scheduler/forked_child_mutexes"
require_relative "scheduler/offloading"
require_relative "scheduler/popen" unless Upwell::Scheduler.method_defined?(:io_close) # through this hook Ruby reports all closed IOs
require_relative "scheduler/worker_pool"

module Upwell
  # The scheduler's hooks that are simpler in Ruby. The other hooks are in ext/upwell/scheduler_*.c.
  class Scheduler
    POLL_PAUSE_MIN = 0.001 # seconds before the first check of a child without a pidfd; the pause doubles each time
    POLL_PAUSE_MAX = 0.05
    private_constant :POLL_PAUSE_MIN, :POLL_PAUSE_MAX

    # @return [Array<String>] the backends that work here, in order of preference
    def self.backends
      Upwell.backends.select { |backend| backend[:works] }.map { |backend| backend[:name] }
    end

    # @param backend [String, Symbol, nil] one of {.backends}; nil: the first
    # @param offload [Boolean] whether operations that Ruby can run without its lock run on threads: compression of large data, files on slow
    #   disks. A short operation, such as File.stat, takes ten times as long there. This needs Ruby 3.4
    # @raise [BackendError] when the backend is unknown or does not work here
    # @raise [Error] on a JRuby before 10.1, which does not call the scheduler
    def initialize(backend: ENV.fetch("UPWELL_BACKEND", nil), offload: false)
      choose(backend&.to_s)
      extend(Offloading) if offload && RUBY_VERSION >= "3.4"
      @workers = WorkerPool.new
      ForkedChildMutexes.prepare
      @mappings_max = mappings_max
    end

    # Resolves a host name (Fiber::Scheduler#address_resolve). The system's resolver blocks, so it runs on a thread.
    #
    # @param hostname [String]
    # @return [Array<String>, nil] numeric addresses; nil when there are none
    def address_resolve(hostname)
      hostname = hostname.dup.freeze # another fiber may change the caller's string meanwhile
      return [hostname] if numeric?(hostname)

      @workers.call { resolve(hostname) }
    end

    # Adds a task of the gem async. The first task calls this method, which loads the methods that tasks need.
    #
    # @param task [Async::Node]
    # @return [void]
    def add_child(task)
      require_relative "scheduler/async_gem_tasks"
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

    # Closes the worker pool when the scheduler ends.
    def end_workers
      @workers&.close
    end

    # This method polls, because a blocked thread may reap a child that no fiber waits for any more: when a thread is killed, Ruby 3.1 runs no
    # `ensure` in its fibers.
    def poll_process(pid, flags)
      pause = POLL_PAUSE_MIN
      until (status = Process::Status.wait(pid, flags | Process::WNOHANG))
        kernel_sleep(pause)
        pause = [pause * 2, POLL_PAUSE_MAX].min
      end
      status
    end

    # The error names the kernel's limit, if it is known. The limit was read earlier: when fibers get no stack, threads get none either, and
    # Ruby 3.4 would open the file on a thread.
    def raise_without_stack(error)
      raise error unless @mappings_max

      raise FiberError, "cannot create another fiber (#{error.message}): #{stats[:fibers]} fibers exist, and each takes two of the " \
                        "#{@mappings_max} memory mappings that a process may have; raise the limit: " \
                        "sysctl -w vm.max_map_count=#{@mappings_max * 16}"
    end

    def mappings_max
      Integer(File.read("/proc/sys/vm/max_map_count"))
    rescue SystemCallError
      nil
    end

    def report(error)
      return unless Thread.current.report_on_exception

      $stderr.write("#{Fiber.current.inspect} terminated with exception (report_on_exception is true):\n#{text_of(error)}")
    end

    # The error's own `message` may raise.
    def text_of(error)
      error.full_message
    rescue StandardError, ScriptError, SystemStackError
      "#{Exception.instance_method(:to_s).bind_call(error)} (#{error.class})\n"
    end
  end
end
