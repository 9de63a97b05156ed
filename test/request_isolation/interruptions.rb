# frozen_string_literal: true

require "timeout"
require_relative "forked_children"

module RequestIsolation
  # What interrupts a request, or makes it wait.
  module Interruptions
    MUTEX = Mutex.new
    LONG = INLINE ? 0.003 : 0.03

    def times_out(visit)
      Timeout.timeout(visit.random.rand * LONG) { visit.random.rand(2).zero? ? sleep(LONG) : Queue.new.pop }
      visit.answer(visit.pieces)
    rescue Timeout::Error
      visit.answer([visit.text])
    end

    def times_out_writing(visit)
      visit.answer(Body.new(visit) { |out| write_in_time(visit, &out) })
    end

    def catches(visit)
      text = catch(:found) { [visit.text].each { |one| throw :found, one if one } }
      visit.answer(Body.new(visit) { |out| catch(:enough) { visit.pieces(text).each(&out); throw :enough } })
    end

    def waits_for_queue(visit)
      queue = Queue.new
      visit.aside { visit.moment; queue << visit.text }
      visit.answer([queue.pop])
    end

    def waits_for_mutex(visit)
      MUTEX.synchronize { visit.moment }
      visit.answer(Body.new(visit) { |out| visit.pieces.each { |piece| out.call(MUTEX.synchronize { piece }) } })
    end

    def collects(visit)
      visit.answer(Body.new(visit) { |out| visit.pieces.each_with_index { |piece, index| GC.start if index == 1; out.call(piece) } })
    end

    def compacts(visit)
      GC.compact if GC.respond_to?(:compact)
      visit.answer(Body.new(visit) { |out| visit.pieces.each_with_index { |piece, index| GC.compact if index == 1; out.call(piece) } })
    end

    def forks(visit)
      ForkedChildren.await(visit, fork { exit!(0) })
      visit.answer(Body.new(visit) { |out| ForkedChildren.detach(visit, fork { exit!(0) }); visit.pieces.each(&out) })
    end

    def executes(visit)
      ForkedChildren.await(visit, fork { exec("true") })
      visit.answer([visit.text])
    end

    def runs(visit)
      visit.answer(IO.popen(["echo", "-n", visit.token], &:read) == visit.token ? [visit.text] : ["popen read another's output"])
    end

    private

    # What is raised must not leave a piece half sent. In mode inline it would be raised into whatever the loop does meanwhile.
    def write_in_time(visit, &out)
      return visit.pieces.each(&out) if INLINE

      Timeout.timeout(0.001 + (visit.random.rand * LONG)) { visit.pieces.each(&out) }
    rescue Timeout::Error
      nil
    end
  end
end
