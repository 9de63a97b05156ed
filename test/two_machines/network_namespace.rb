# frozen_string_literal: true

require "fiddle"

# A network that only those have who are inside: the processes that are started there, and the sockets that are made there. It has no name
# in the file system, so the kernel ends it with the last one who uses it, however that ends.
class NetworkNamespace
  CLONE_NEWNET = 0x40000000
  CURRENT = "/proc/thread-self/ns/net"
  UNSHARE = Fiddle::Function.new(Fiddle.dlopen(nil)["unshare"], [Fiddle::TYPE_INT], Fiddle::TYPE_INT)
  SETNS = Fiddle::Function.new(Fiddle.dlopen(nil)["setns"], [Fiddle::TYPE_INT, Fiddle::TYPE_INT], Fiddle::TYPE_INT)

  class << self
    # @return [Boolean] whether this user may make one
    def there?
      new.close
      true
    rescue Errno::EPERM, Errno::ENOSYS
      false
    end

    # Only this thread goes, and comes back at the end of the block. Threads that it starts there stay there.
    def coming_back
      File.open(CURRENT) do |home|
        yield
      ensure
        enter(home)
      end
    end

    def enter(file)
      check "setns", SETNS.call(file.fileno, CLONE_NEWNET)
    end

    def check(name, result)
      raise SystemCallError.new(name, Fiddle.last_error) unless result.zero?
    end
  end

  # @raise [Errno::EPERM]
  def initialize
    NetworkNamespace.coming_back do
      NetworkNamespace.check "unshare", UNSHARE.call(CLONE_NEWNET)
      @file = File.open(CURRENT)
    end
  end

  # The block, and the processes that it starts, are there.
  def inside
    NetworkNamespace.coming_back do
      NetworkNamespace.enter(@file)
      yield
    end
  end

  # @param command [String] of ip
  def ip(command)
    inside { system("ip", *command.split, exception: true) }
  end

  # @return [String] where this process's commands find it
  def path
    "/proc/#{Process.pid}/fd/#{@file.fileno}"
  end

  def close
    @file.close
  end
end
