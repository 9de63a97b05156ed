# frozen_string_literal: true

require_relative "single_request"

# Somebody who asks again and again, one request after another, until nobody listens any more.
class RepeatingClient
  PAUSE = 0.003 # seconds: the machine is others', too
  WAITS = 0.3

  # @return [Integer] good answers
  attr_reader :answers
  # @return [Array<String>]
  attr_reader :failures

  def initialize(port, path)
    @port = port
    @path = path
    @answers = 0
    @failures = []
    @turn = Mutex.new
    @thread = Thread.new { visit while @failures.empty? && !@stopped }
  end

  # Nobody is asked meanwhile.
  def pause(&block)
    @turn.synchronize(&block)
  end

  # Waits for some more.
  def await_answers(count)
    wanted = @answers + count
    Await.await("#{count} answers of #{@path}") { @answers >= wanted || @failures.any? }
    Await.expect(@failures.first, @failures.empty?)
  end

  # @return [Boolean] whether there was no answer for a while
  def waits?
    Await.now - @asked > WAITS
  end

  # From now on whoever does not listen any more may refuse.
  def may_be_refused
    @refusable = true
  end

  # @raise [Await::Failure] when one request has failed
  def stop
    @stopped = true
    @thread.join
    Await.expect(@failures.first, @failures.empty?)
  end

  private

  def visit
    @turn.synchronize { (@asked = Await.now) && ask }
    @answers += 1
    sleep(PAUSE)
  rescue Errno::ECONNREFUSED
    @refusable ? @stopped = true : @failures << "a client was refused"
  rescue Await::Failure, SystemCallError => e
    @failures << "of #{@answers + 1} requests the last: #{e.message}"
  end

  def ask
    SingleRequest.new(@port, @path).finish
  end
end
