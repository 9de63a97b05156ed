# frozen_string_literal: true

module RequestIsolation
  Failure = Class.new(StandardError)

  class UnclosableBody < Body
    def close
      super
      raise Failure, @visit.id
    end
  end

  # Exceptions at any moment, and lengths that are wrong.
  module ApplicationExceptions
    def raises(visit)
      visit.moment if visit.random.rand(2).zero?
      raise Failure, visit.id
    end

    def raises_in_each(visit)
      visit.answer(Body.new(visit) { |out| fail_somewhere(visit, &out) })
    end

    def raises_in_callable(visit)
      visit.answer(->(stream) { fail_somewhere(visit) { |piece| stream.write(piece) } })
    end

    def raises_in_close(visit)
      visit.answer(UnclosableBody.new(visit) { |out| visit.pieces.each(&out) })
    end

    def raises_in_finished(visit)
      visit.env["rack.response_finished"] << ->(*) { raise Failure, visit.id }
      visit.answer([visit.text])
    end

    def raises_no_standard_error(visit)
      raise NotImplementedError, visit.id
    end

    def throws(visit)
      throw visit.id.to_sym
    end

    def too_deep(visit, depth = 0)
      too_deep(visit, depth + 1).to_s + depth.to_s
    end

    def too_short(visit)
      visit.answer(Body.new(visit) { |out| visit.pieces.each(&out) }, "content-length" => (visit.text.bytesize + 1).to_s)
    end

    def too_long(visit)
      visit.answer(Body.new(visit) { |out| visit.pieces.each(&out) }, "content-length" => (visit.text.bytesize - 1).to_s)
    end

    # As libraries do that end what takes too long.
    def raised_into(visit)
      return times_out(visit) unless MODE.start_with?("threads")

      thread = Thread.current
      begin
        visit.aside { thread.raise(Failure, visit.id) }
        sleep
      rescue Failure => e
        RequestIsolation.trouble(visit.id, "got another's exception: #{e.message}") if e.message != visit.id
      end
      visit.answer([visit.text])
    end

    private

    def fail_somewhere(visit)
      pieces = visit.pieces
      pieces.first(visit.random.rand(0..pieces.size)).each { |piece| yield piece }
      raise Failure, visit.id
    end
  end
end
