# frozen_string_literal: true

require "socket"
require_relative "forked_children"
require_relative "marked_bytes"
require_relative "marked_transfers"
Dir[File.join(__dir__, "activity_kinds", "*.rb")].each { |file| require file }

module Torture
  NAP_MAX = 0.005 # seconds
  LONG = 600 # seconds: more than a machine may stand still

  # What it did was not what it should have done.
  Wrong = Class.new(StandardError)

  # One thing that a fiber does, in some milliseconds; it may be ended early wherever it waits. Whatever it took is given back by {#finish}. It
  # draws from dice of its own, so that it chooses the same whatever others do meanwhile.
  class Activity
    include MarkedTransfers

    ActivityKinds.constants.each { |name| include ActivityKinds.const_get(name) }

    # @param round [DisturbedFibersRound] starts the fibers that help
    # @param name [String] is in all its bytes
    # @param kind [Symbol]
    # @param dice [Random]
    def initialize(round, name, kind, dice)
      @round = round
      @name = name
      @kind = kind
      @dice = dice
      @process = Process.pid
      @marks = 0
      @ios = []
      @queues = []
      @threads = []
      @children = []
      @over = @robbed = false
    end

    attr_reader :kind, :name

    def run
      send(@kind)
      at_home
    end

    def over?
      @over
    end

    # Whether something it waited for was closed, so that it may end in any way.
    def robbed?
      @robbed
    end

    # Closes one of its IOs, as a neighbour may.
    #
    # @param how [Symbol] :close, :close_read or :close_write
    def rob(how, dice)
      io = robbable.sample(random: dice) or return
      @robbed = true
      io.public_send(how)
    rescue IOError
      nil # it is closed already, or has not this side
    end

    # Part of it cannot go on: so that the rest does not wait for that part.
    def give_up
      at_home
      @ios.each(&:close)
      @queues.each(&:close)
    end

    # Gives everything back; what it waits for here is not disturbed any more.
    def finish
      @over = true
      give_up
      @threads.each { |thread| join_ended(thread) }
      @children.each { |pid| end_child(pid) }
      at_home
    end

    # What goes on in another process than it began in tells so, and does no more harm.
    def at_home
      return if Process.pid == @process

      FailureReport.sound("#{@kind} #{@name} of process #{@process} goes on in #{Process.pid}: #{caller.first(4).join(", ")}")
      exit!(98)
    end

    # The other parts of an activity have these from it.
    def own(*ios)
      @ios.concat(ios)
      return ios.size == 1 ? ios.first : ios unless @over

      ios.each(&:close)
      raise IOError, "the activity is over"
    end

    def own_thread(&block)
      dice = more_dice
      thread = Thread.new do
        block.call(dice)
      rescue ActivityKinds::EndedThreads::Doom, ForkedChildren::Hung
        raise
      rescue StandardError => e
        FailureReport.sound("a thread of #{@kind} #{@name}: #{e.full_message(highlight: false)}") unless @over || @robbed
        raise
      end
      thread.report_on_exception = false
      @threads << thread
      thread
    end

    def new_mark
      MarkedBytes.new("#{@name}m#{@marks += 1}")
    end

    def check(result, what = "result")
      at_home
      result || wrong("the wrong #{what}")
    end

    def wrong(what)
      raise Wrong, "#{@kind} #{@name}: #{what}"
    end

    private

    # Whoever accepts a connection as another thread closes the server gets an IOError, and Ruby loses the connection, which stays open for ever:
    # whoever reads at its other end would find no end.
    def robbable
      Fiber.current_scheduler ? @ios : @ios.reject { |io| io.respond_to?(:accept) }
    end

    # The child of a fork has this activity, and nothing else that was its parent's.
    def settle_in_child
      @process = Process.pid
      @threads = []
      @children = []
    end

    def own_child(pid)
      @children << pid
      ForkedChildren.add(pid)
      pid
    end

    # @return [Process::Status]
    def wait_for_child(pid)
      _, status = Process.wait2(pid)
      @children.delete(pid)
      ForkedChildren.ended(pid)
      status
    end

    def own_queue(queue)
      @queues << queue
      queue
    end

    def join_ended(thread)
      thread.join
    rescue StandardError
      nil # it has told so, if it was wrong
    end

    def end_child(pid)
      ForkedChildren.forget(pid)
      Process.kill("KILL", pid)
      Process.wait(pid)
    rescue Errno::ESRCH, Errno::ECHILD
      nil # it was waited for just before the fiber was ended
    end

    # Without a buffer of Ruby's, which a child that is forked meanwhile would write too.
    def temporary_file
      file = own(File.open("#{FOLDER}/#{@name}", "w+b"))
      File.unlink(file.path)
      file.sync = true
      file
    end

    # In a fiber of its own, with dice of its own.
    def beside
      dice = more_dice
      @round.help(self) { yield dice }
    end

    def more_dice
      Random.new(@dice.rand(1 << 32))
    end

    def short(dice = @dice)
      dice.rand * NAP_MAX
    end

    def chance(one_in, dice = @dice)
      dice.rand(one_in).zero?
    end

    # By a fiber, or by a thread.
    def later(by, &block)
      dice = more_dice
      after = proc { sleep(short(dice)) && block.call(dice) }
      by == :thread ? own_thread(&after) : beside(&after)
    end
  end
end
