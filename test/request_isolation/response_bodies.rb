# frozen_string_literal: true

require "tempfile"

module RequestIsolation
  # A body that counts how often it is closed.
  class Body
    def initialize(visit, &producer)
      @visit = visit
      @producer = producer
      Ledger.expect(visit.id, "close")
    end

    def each(&block)
      @producer.call(block)
    end

    def close
      Ledger.settle(@visit.id, "close")
    end
  end

  # A file that lives as long as the response.
  class FileBody < Body
    attr_reader :to_path

    def initialize(visit)
      super
      @file = Tempfile.new("isolation")
      @file.write(visit.text)
      @file.flush
      @to_path = @file.path
    end

    def each
      yield File.binread(to_path)
    end

    def close
      super
      @file.close!
    end
  end

  # The ordinary ways to answer.
  module ResponseBodies
    def array(visit)
      visit.answer([visit.text])
    end

    def array_of_pieces(visit)
      visit.answer(visit.pieces)
    end

    def each_piece(visit)
      visit.answer(Body.new(visit) { |out| visit.pieces.each(&out) })
    end

    def each_sized(visit)
      visit.answer(Body.new(visit) { |out| visit.pieces.each(&out) }, "content-length" => visit.text.bytesize.to_s)
    end

    def callable(visit)
      visit.answer(lambda { |stream|
        visit.pieces.each { |piece| visit.random.rand(2).zero? ? stream << piece : stream.write(piece) }
        stream.flush if visit.random.rand(4).zero?
        stream.close
      })
    end

    def callable_unclosed(visit)
      visit.answer(->(stream) { stream.write(*visit.pieces) })
    end

    def file(visit)
      length = visit.random.rand(2).zero? ? { "content-length" => visit.text.bytesize.to_s } : {}
      visit.answer(FileBody.new(visit), length)
    end

    # What comes next is computed in a fiber of its own.
    def enumerator(visit)
      source = Enumerator.new { |found| visit.pieces.each { |piece| found << piece } }
      visit.answer(Body.new(visit) { |out| loop { out.call(source.next) } })
    end

    def no_content(visit)
      [visit.random.rand(2).zero? ? 204 : 304, visit.headers, []]
    end

    def paced(visit)
      visit.answer(Body.new(visit) { |out| visit.pieces.each_with_index { |piece, index| visit.moment if index < 5; out.call(piece) } })
    end

    # The content of the request, read in one of the many ways.
    def echo(visit)
      input = visit.env["rack.input"]
      case visit.random.rand(6)
      when 0 then visit.answer([input.read])
      when 1 then visit.answer([Thread.new { input.read }.value])
      when 2 then visit.answer(Body.new(visit) { |out| while (piece = input.read(1000)) do out.call(piece) end })
      when 3 then visit.answer(->(stream) { stream.write(stream.read.to_s) })
      when 4 then visit.answer(Body.new(visit) { |out| out.call(Thread.new { visit.moment; input.read }.value) })
      else
        input.read(visit.random.rand(1..100))
        input.rewind
        visit.answer([input.each.to_a.join])
      end
    end
  end
end
