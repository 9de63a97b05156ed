# frozen_string_literal: true

module RequestIsolation
  # Threads and fibers other than the request's, within its time and beyond it.
  module ResponsesFromOtherThreads
    LATE = 6 # times that something is tried which may come too late

    def each_in_thread(visit)
      visit.answer(Body.new(visit) { |out| write_aside(visit, visit.pieces, &out) })
    end

    def callable_in_thread(visit)
      visit.answer(lambda { |stream|
        write_aside(visit, visit.pieces) { |piece| stream.write(piece) }
        stream.close
      })
    end

    # Which of them writes when is all one: they write the same.
    def callable_in_threads(visit)
      return callable_in_thread(visit) if INLINE

      left = Array.new(visit.text.bytesize / visit.token.bytesize, visit.token).each_slice(50).map(&:join)
      visit.answer(lambda { |stream|
        Array.new(3) { quiet_thread { while (piece = left.pop) do stream.write(piece) end } }.each(&:join)
      })
    end

    def callable_in_fiber(visit)
      visit.answer(->(stream) { Fiber.new { visit.pieces.each { |piece| stream.write(piece) } }.resume })
    end

    def thread_outlives_call(visit)
      visit.answer(lambda { |stream|
        visit.aside { visit.pieces.each { |piece| write_or_be_refused(visit, piece) { stream.write(piece) } } }
        visit.moment
        stream.close if visit.random.rand(2).zero?
      })
    end

    def thread_outlives_each(visit)
      visit.answer(Body.new(visit) do |out|
        visit.aside { visit.pieces.each { |piece| write_or_be_refused(visit, piece, &out); sleep 0.001 } }
        visit.moment
      end)
    end

    def writer_killed(visit)
      visit.answer(lambda { |stream|
        writer = visit.aside { visit.pieces.each { |piece| write_or_be_refused(visit, piece) { stream.write(piece) } } }
        visit.moment
        writer.kill
        writer.join if visit.random.rand(2).zero?
      })
    end

    # Everything of a request is tried again when it may be long over: its numbers and memory may be another's by then.
    def env_outlives(visit)
      read_content(visit) if visit.random.rand(2).zero?
      env = visit.env
      visit.aside do
        LATE.times do
          sleep visit.random.rand * 0.05
          try_late { env["rack.early_hints"].call("link" => visit.id) }
          try_late { check_content(visit, env["rack.input"].read) }
          try_late { env["rack.input"].rewind }
          try_late { check_content(visit, env["rack.input"].gets) }
        end
        try_late { visit.write_raw(env["rack.hijack"].call) } if visit.random.rand(3).zero? && over?(env)
      end
      visit.moment if visit.random.rand(4).zero?
      visit.answer(visit.random.rand(2).zero? ? [visit.text] : visit.pieces)
    end

    # Whoever comes first answers; the other is refused, or its answer ignored.
    def hijack_races(visit)
      visit.aside { visit.moment; visit.write_raw(visit.env["rack.hijack"].call) }
      visit.moment
      visit.answer([visit.text])
    end

    def hints_race(visit)
      visit.aside { LATE.times { visit.env["rack.early_hints"].call("link" => visit.id); sleep 0.001 } }
      visit.moment
      visit.answer(Body.new(visit) { |out| visit.pieces.each { |piece| out.call(piece) } })
    end

    private

    def quiet_thread(&block)
      Thread.new do
        Thread.current.report_on_exception = false
        block.call
      end
    end

    # In mode inline other threads are refused, with an IOError, and the request's own writes.
    def write_aside(visit, pieces, &out)
      return quiet_thread { pieces.each(&out) }.join unless INLINE

      quiet_thread { write_or_be_refused(visit, pieces.first, &out) }.join
    rescue IOError
      INLINE ? pieces.each(&out) : raise
    end

    def write_or_be_refused(visit, piece)
      yield piece
      RequestIsolation.trouble(visit.id, "another thread was let write in mode inline") if INLINE
    end

    def try_late
      yield
    rescue *ENDED
      nil
    end

    # The hijack of what is not over yet would be another act.
    def over?(env)
      env["rack.early_hints"].call({})
      false
    rescue IOError
      true
    end

    def read_content(visit)
      check_content(visit, visit.env["rack.input"].read)
    end

    def check_content(visit, content)
      return if !content || content.delete_prefix(visit.token * (content.bytesize / visit.token.bytesize)).empty?

      RequestIsolation.trouble(visit.id, "reads what is not its own: #{content[0, 200].inspect}")
    end
  end
end
