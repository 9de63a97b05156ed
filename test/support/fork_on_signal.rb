# frozen_string_literal: true

require_relative "forked_fibers"

$stdout.sync = true
Fiber.set_scheduler(Upwell::Scheduler.new)
if ARGV.any?
  ARGV.each { |how| p [how, *ForkedFibers.new(how).run] }
else
  # Forks as a signal comes.
  parent = Process.pid
  child = nil
  trap(:USR1) { child = fork }
  2.times do
    Fiber.schedule do
      sleep(0.2)
    ensure
      $stdout.write("ended in the #{Process.pid == parent ? "parent" : "child"}\n")
    end
  end
  puts "ready"
  Fiber.scheduler.run
  if Process.pid == parent
    status = Process.wait2(child).last
    puts "the child has ended with #{status.exitstatus}"
  else
    puts "the child goes on"
    exit(3)
  end
end
