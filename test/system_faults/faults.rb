# frozen_string_literal: true

require_relative "small_file_system"

# What a system may do to a server: each can be imposed on a site, and lifted.
module Faults
  # Of most there is nothing to arrange.
  class Condition
    # @return [Hash] of arguments of {FaultedServer}
    def arrangement = {}
    # Before the server is started.
    def prepare(_site) = nil
    def impose(_site) = nil
    def lift(_site) = nil
    # When the site is removed.
    def clean(_site) = nil
    # @return [Integer, nil] how often it was felt, where that can be counted
    def felt(_site) = nil
    # @return [Boolean] whether clients have to wait until it is lifted
    def holds_clients? = false
  end

  # Whoever has read a stream is gone.
  class ClosedStream < Condition
    def initialize(name)
      super()
      @name = name
    end

    def arrangement = { closed: @name }
    def impose(site) = site.leave_stream
  end

  # The log is on a disk without room.
  class FullDisk < Condition
    def prepare(site)
      @disk = SmallFileSystem.new(site.file("kept/log"))
    end

    def impose(_site) = @disk.fill
    def lift(_site) = @disk.make_room
    def clean(_site) = @disk&.unmount
  end

  # The folder of the pid file can only be read. It is mounted a second time, over itself: a file of it may be open for writing.
  class ReadOnlyFolder < Condition
    def impose(site)
      @folder = site.file("kept/run")
      mount("--bind", @folder, @folder)
      mount("-o", "remount,bind,ro", @folder)
    end

    def lift(_site)
      system("umount", "-l", @folder, exception: true)
      @folder = nil
    end

    def clean(site)
      lift(site) if @folder
    end

    private

    def mount(*arguments) = system("mount", *arguments, exception: true)
  end

  # The log's folder has another name.
  class MovedFolder < Condition
    def impose(site) = File.rename(site.file("kept/log"), site.file("kept/aside"))
    def lift(site) = File.rename(site.file("kept/aside"), site.file("kept/log"))
  end

  # One call fails, see failing_calls.c.
  class FailingCall < Condition
    def initialize(name, number, holds_clients: false, arrangement: {})
      super()
      @name = name
      @number = number
      @holds_clients = holds_clients
      @arrangement = arrangement
    end

    attr_reader :arrangement

    def impose(site)
      path = site.file("failing/#{@name}")
      File.write("#{path}.new", @number.to_s)
      File.rename("#{path}.new", path)
    end

    def lift(site) = File.unlink(site.file("failing/#{@name}"))
    def felt(site) = File.size?(site.file("failing/#{@name}.failed")) || 0
    def holds_clients? = @holds_clients
  end

  # More clients are connected than a process has descriptors for.
  class Crowd < Condition
    DESCRIPTORS = 40
    CLIENTS = 120

    def arrangement = { descriptors: DESCRIPTORS }

    def impose(site)
      @clients = Array.new(CLIENTS) { TCPSocket.new("127.0.0.1", site.port) }
    end

    def lift(_site) = @clients.each(&:close)
    def holds_clients? = true
  end

  # No process of the server may open anything more. Of those who accept through io_uring the kernel has noted the limit before.
  class NoDescriptors < Condition
    def arrangement = { options: %w[--backend epoll] }
    def impose(site) = each_process(site) { |pid| limit(pid, "3:#{Process.getrlimit(:NOFILE).last}") }
    def lift(site) = each_process(site) { |pid| limit(pid, Process.getrlimit(:NOFILE).join(":")) }
    def holds_clients? = true

    private

    def each_process(site, &block) = [site.pid, *site.workers].each(&block)

    # To the three that everybody has. Who has ended needs none.
    def limit(pid, numbers) = system("prlimit", "--pid", pid.to_s, "--nofile=#{numbers}", err: File::NULL)
  end
end
