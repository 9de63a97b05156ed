# frozen_string_literal: true

# In a process of its own, with the gems of the libraries: does each operation once and then COUNT times at once, under the scheduler, and prints
# how long that took, one JSON object a line.

require "upwell"
require_relative "library_operations"

$stdout.sync = true
Socket.tcp_fast_fallback = false if Socket.respond_to?(:tcp_fast_fallback=) # as the guide says, and the server does

# One operation, alone and beside itself.
class Measurement
  COUNT = Integer(ENV.fetch("COUNT", "20"))
  ALIKE_MAX = [4, COUNT / 3].max # times as long as one alone is about as long, as twenty processes take their time to start
  TRIES = 5 # as this machine may have other things to do

  def initialize(operation)
    @operation = operation
  end

  def to_h
    once = [seconds(1), seconds(1)].min
    all = at_once(once)
    ways = { waits: all < once * ALIKE_MAX, blocks: all > once * COUNT / 2 }
    { title: @operation.title, what: @operation.what, expected: @operation.blocks ? "blocks" : "waits", once: once.round(3), all: all.round(3),
      found: (ways.key(true) || "neither").to_s }
  rescue StandardError => e
    { title: @operation.title, what: @operation.what, found: "#{e.class}: #{e.message}" }
  end

  private

  # One that blocks never takes less.
  def at_once(once)
    TRIES.times.inject(Float::INFINITY) do |least, _|
      break least if least < once * ALIKE_MAX || (@operation.blocks && least < Float::INFINITY)

      [least, seconds(COUNT)].min
    end
  end

  def seconds(count)
    own = Array.new(count) { @operation.prepare&.call }
    began = now
    schedule(own)
    now - began
  ensure
    own&.each { |one| one&.close }
  end

  def schedule(own)
    thread = Thread.new do
      Thread.current.report_on_exception = false
      Fiber.set_scheduler(Upwell::Scheduler.new)
      own.each { |one| Fiber.schedule { @operation.work.call(one) } }
      Fiber.scheduler.run
    end
    thread.join
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end

chosen = ENV["LIBRARIES"]&.split(",")
LibraryOperations::ALL.each do |operation|
  puts JSON.generate(Measurement.new(operation).to_h) if chosen.nil? || chosen.include?(operation.library)
end
