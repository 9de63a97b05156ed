# frozen_string_literal: true

require "timeout"

# Forks within a request, and tells how the child ended. The path says what the child does.
class Forking
  PIECE = "x" * 65_536

  # More than a client that does not read lets through, written by a thread of the application where the mode lets it.
  class Endless
    def each(&block)
      return write(&block) if ENV["INLINE"]

      Thread.new { write(&block) }.tap { |thread| thread.report_on_exception = false }.join
    end

    private

    def write
      loop { yield PIECE }
    end
  end

  # Forks as it is closed: the child goes on from there.
  class Closing
    def each
      yield "closing"
    end

    def close
      pid = fork and Process.wait(pid)
    end
  end

  # Forks outside of a request.
  #
  # @param where [String]
  # @yield in the child
  def self.fork_elsewhere(where)
    pid = fork or return yield
    Process.wait(pid)
    @elsewhere = "#{@elsewhere}#{where}: #{Process.last_status.exitstatus} "
  end

  # @return [String] how those children have ended
  def self.elsewhere
    @elsewhere.to_s
  end

  def call(env)
    what = env["PATH_INFO"].delete_prefix("/")
    return [200, {}, Endless.new] if what == "endless"
    return [200, {}, ["here"]] if what == "here"
    return [200, {}, [Forking.elsewhere]] if what == "elsewhere"
    return schedule if what == "schedule"
    return close(env) if what == "closing"

    pid = what == "block" ? fork { "nothing" } : fork
    return act(what, env) unless pid

    Process.wait(pid)
    [200, {}, ["#{what}: #{Process.last_status.exitstatus}"]]
  end

  private

  # In fibers that the request does not wait for, where there may be some. One of the children goes on where its fiber ends.
  def schedule
    if Fiber.scheduler
      fork_while_the_fiber_is_cleaned
      Fiber.schedule { sleep(0.01) && Forking.fork_elsewhere("fiber") { exit(6) } }
      Fiber.schedule { sleep(0.01) && Forking.fork_elsewhere("ended") { "with its fiber" } }
    end
    [200, {}, ["here"]]
  end

  # As a trap handler may: the server asks for what the request has left.
  def fork_while_the_fiber_is_cleaned
    Thread.current.define_singleton_method(:keys) do
      singleton_class.remove_method(:keys)
      Forking.fork_elsewhere("clean") { Process.exit(6) } # not the exit of Thread
      []
    end
  end

  def close(env)
    server = Process.pid
    env["rack.response_finished"] << ->(*) { warn "finished in the child" unless Process.pid == server }
    [200, { "content-length" => "7" }, Closing.new]
  end

  def act(what, env)
    case what
    when "exit" then exit(3)
    when "abort" then abort
    when "raise" then raise "on purpose"
    when "exec" then exec("false")
    when "thread" then Thread.new { exit(4) }.join
    when "timeout" then time_out
    when "hijack" then env["rack.hijack"].call
    when "hints" then env["rack.early_hints"].call("link" => "<child>")
    when "drain" then ObjectSpace.each_object(Upwell::Server) { |server| server.drain(1, refuses: true) }
    when "stop" then ObjectSpace.each_object(Upwell::Server, &:stop)
    end
    [200, {}, ["from the child"]]
  end

  def time_out
    Timeout.timeout(0.01) { sleep }
  rescue Timeout::Error
    exit(5)
  end
end

Forking.fork_elsewhere("load") { exit(6) }
trap("WINCH") { Forking.fork_elsewhere("trap") { exit(6) } }
trap("URG") { Forking.fork_elsewhere("back") { "where the handler was called" } }
run Forking.new
