# frozen_string_literal: true

require "upwell"

# A fiber forks, without a block, while others wait: what becomes of the child, and of those.
class ForkedFibers
  # What the child does, the status with which it ends by that, and what it tells.
  ENDS = {
    "return" => [0, "at_exit"],
    "exit" => [3, "at_exit"],
    "abort" => [1, "at_exit"],
    "raise" => [1, "at_exit"],
    "throw" => [1, "at_exit"],
    "kill" => [0, "at_exit"],
    "exit!" => [4],
    "exec" => [1],
    "thread" => [5, "at_exit"],
    "schedule" => [0, "at_exit", "scheduled"],
    "schedule and raise" => [1, "at_exit"]
  }.freeze

  # @return [Array] what {#run} has to return
  def self.expected(how)
    status, *told = ENDS.fetch(how)
    [status, [*told.map { |what| "#{what} in the child" }, "read in the parent", "slept in the parent"].sort]
  end

  # @param how [String] of ENDS
  def initialize(how)
    @how = how
    @parent = Process.pid
    @told, @teller = IO.pipe
    @message, @messages = IO.pipe
  end

  # @return [Array(Integer, Array<String>)] the child's status, and what was told, and where
  def run
    Fiber.schedule { telling("read") { @message.readpartial(10) } }
    Fiber.schedule { telling("slept") { sleep(0.01) } }
    Fiber.schedule { fork_within }
    Fiber.scheduler.run
    @teller.close
    [@status, @told.read.lines(chomp: true).sort]
  end

  private

  # Whoever ends tells of it, however that is.
  def telling(what)
    yield
  ensure
    tell(what)
  end

  def tell(what)
    @teller.syswrite("#{what} in the #{Process.pid == @parent ? "parent" : "child"}\n")
  end

  def fork_within
    pid = fork or return act_in_child
    @status = Process.wait2(pid).last.exitstatus
    @messages.write("message")
  end

  def act_in_child
    $stderr.reopen(File::NULL)
    at_exit { tell("at_exit") }
    case @how
    when "exit" then exit(3)
    when "abort" then abort("on purpose")
    when "raise" then raise "on purpose"
    when "throw" then throw :nobody
    when "kill" then Thread.current.kill
    when "exit!" then exit!(4)
    when "exec" then exec("false")
    when "thread" then Thread.new { exit(5) }.join
    when "schedule" then Fiber.schedule { sleep(0.001) && tell("scheduled") }
    when "schedule and raise" then Fiber.schedule { sleep(0.001) && raise("on purpose") }
    end
  end
end
