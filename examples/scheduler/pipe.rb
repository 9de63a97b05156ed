# frozen_string_literal: true

# One fiber writes, another reads: ruby examples/scheduler/pipe.rb

require "upwell"

reader, writer = IO.pipe
Fiber.set_scheduler(Upwell::Scheduler.new)

Fiber.schedule do
  puts "read: #{reader.read}"
  reader.close
end

Fiber.schedule do
  puts "writing"
  writer.write("Hello World")
  writer.close
end
