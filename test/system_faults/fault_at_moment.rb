# frozen_string_literal: true

require_relative "faulted_server"
require_relative "repeating_client"

# One condition at one moment of a server's life. The server goes on, or ends as the table says, and every request is answered.
class FaultAtMoment
  include Await

  SOME = 5 # answers
  FELT = 4 # times
  HELD_UP = %i[serving hup].freeze # where no other worker comes to help

  # @param row [ExpectedOutcomes::Row]
  # @param kind [Symbol] of server
  # @param workers [Integer]
  # @param moment [Symbol]
  def initialize(row, kind, workers, moment)
    @row = row
    @moment = moment
    @workers = workers
    @condition = row.condition.call
    @site = site(kind)
  end

  # @return [String, nil] what went wrong
  def failure
    @condition.prepare(@site)
    send(@moment)
    nil
  rescue Await::Failure => e
    "#{e.message}; it has told:\n#{@site.messages.lines.last(20).join}"
  ensure
    @condition.clean(@site)
    @site.remove
  end

  private

  def site(kind)
    arrangement = @condition.arrangement
    preload = @moment == :load && @workers.positive? ? ["--preload"] : []
    FaultedServer.new(kind, @workers, **arrangement, options: [*arrangement[:options], *preload])
  end

  # The moments.

  def boot
    @site.spawn(stream_open: false)
    @condition.impose(@site)
    begin_with { @site.open_gate }
  end

  def load
    File.write(@site.file("hold-load"), "")
    @site.spawn
    @site.open_gate
    await("loading") { File.exist?(@site.file("loading")) }
    @condition.impose(@site)
    begin_with { File.unlink(@site.file("hold-load")) }
  end

  def serving
    serve
    endure
    stop
  end

  def hup
    serve
    endure { @site.signal("HUP") }
    stop
  end

  def usr1
    serve
    before = @site.workers
    endure { @site.signal("USR1") }
    @site.release
    await("new workers") { !@site.workers.intersect?(before) && @site.workers.size == @workers }
    stop
  end

  def death
    serve
    endure { kill_another }
    @site.await_workers
    stop
  end

  def drain
    serve
    @condition.impose(@site)
    return stop unless @condition.holds_clients?

    await("a client who waits") { @visitor.waits? }
    stop { @condition.lift(@site) }
  end

  # What they have in common.

  def begin_with(&block)
    refusal = @row.refuses[@moment]
    refusal ? end_with(refusal, &block) : start(&block)
  end

  def end_with(refusal)
    yield
    status = @site.await_end
    expect("ended with #{status}", status.exitstatus == 1)
    expect("did not tell #{refusal.inspect}", @site.messages.match?(refusal))
  end

  def start
    yield
    @site.await_listening
    visit
    feel
    @condition.lift(@site)
    @visitor.await_answers(SOME)
    stop
  end

  def serve
    @site.spawn
    @site.open_gate
    @site.await_listening
    @site.await_workers
    visit
    @visitor.await_answers(SOME)
    @site.hold
  end

  def visit
    @visitor = RepeatingClient.new(@site.port, @site.page)
  end

  # The condition holds for a while, in which something happens: at first while nobody waits for an answer but the one that is held.
  def endure
    @felt = @condition.felt(@site)
    @visitor.pause do
      @condition.impose(@site)
      yield if block_given?
    end
    feel
    @condition.lift(@site)
    @visitor.await_answers(SOME)
  end

  def feel
    felt = @row.felt.include?(@moment)
    meet if felt
    await("a client who waits") { @visitor.waits? } if @condition.holds_clients? && HELD_UP.include?(@moment)
    @visitor.await_answers(SOME) unless @condition.holds_clients? || (felt && @moment == :death) # some wait for the worker that is dead
  end

  # Again and again: Ruby itself tries some calls twice. Signals are obeyed meanwhile.
  def meet
    await("what the condition does") { @condition.felt(@site) >= (@felt || 0) + FELT }
    @site.signal("USR2")
    await("an answer to SIGUSR2") { @site.messages.include?("SIGUSR2 is ignored") }
  end

  # Until it has ended it may accept.
  def kill_another
    victim = (@site.workers - [@site.holder]).first
    @site.signal("KILL", victim)
    await("its end") { !@site.workers.include?(victim) }
  end

  def stop
    @visitor.may_be_refused
    @site.signal("TERM")
    await("an answer to SIGTERM") { @site.messages.include?("SIGTERM: ") } && yield if block_given?
    @site.release
    status = @site.await_end
    expect("ended with #{status}", status.exitstatus.zero?)
    @visitor.stop
  end
end
