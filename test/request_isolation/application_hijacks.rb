# frozen_string_literal: true

module RequestIsolation
  # Connections that the application takes over.
  module ApplicationHijacks
    IGNORED = [0, {}, []].freeze

    def hijack(visit)
      visit.write_raw(visit.env["rack.hijack"].call)
      IGNORED
    end

    def hijack_in_thread(visit)
      io = visit.env["rack.hijack"].call
      visit.aside { visit.moment; visit.write_raw(io) }
      visit.random.rand(4).zero? ? raise(Failure, visit.id) : IGNORED
    end

    # Another thread takes it while the request waits.
    def hijack_late(visit)
      return hijack_in_thread(visit) if INLINE

      taken = visit.aside { visit.write_raw(visit.env["rack.hijack"].call) }
      taken.join
      IGNORED
    end

    def partial_hijack(visit)
      visit.answer([], "rack.hijack" => ->(io) { write(visit, io) })
    end

    def partial_hijack_in_thread(visit)
      visit.answer([], "rack.hijack" => ->(io) { visit.aside { visit.moment; write(visit, io) } })
    end

    def partial_hijack_raises(visit)
      visit.answer([], "rack.hijack" => lambda { |io|
        io.write(visit.pieces.first)
        raise Failure, visit.id
      })
    end

    private

    def write(visit, io)
      visit.pieces.each { |piece| io.write(piece) }
    rescue *ENDED
      nil
    ensure
      io.close
    end
  end
end
