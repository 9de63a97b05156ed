# frozen_string_literal: true

module Torture
  # The many ways to write and to read what is marked.
  module MarkedTransfers
    SIZES = [1..100, 1..100, 100..5000, 60_000..200_000].freeze # bytes
    WRITING = %i[write_whole write_pieces write_appended write_nonblock write_sys].freeze
    READING = %i[read_whole read_parts read_lengths read_tokens read_characters read_nonblock read_waiting].freeze
    CHARACTERS_MAX = 5000 # bytes, beyond which one by one takes too long
    PIECE_MAX = 5000
    NAP_LONG = 5 # seconds

    private

    def some_size
      @dice.rand(SIZES.sample(random: @dice))
    end

    # From one end to the other.
    def transfer(reader, writer, size = some_size, finish: :close)
      mark = new_mark
      beside do |dice|
        write_marked(writer, mark, size, dice)
        writer.public_send(finish)
      end
      check(read_marked(reader, mark, size) == size, "length")
    end

    # @return [Integer] size
    def write_marked(io, mark, size, dice)
      ways = io.pid ? WRITING - %i[write_nonblock] : WRITING # Ruby does not find the side of a command that is written to
      send(ways.sample(random: dice), io, mark.bytes(size), dice)
      size
    end

    # @return [Integer] how much there was until the end
    def read_marked(io, mark, size = CHARACTERS_MAX, dice = more_dice)
      ways = size > CHARACTERS_MAX ? READING - %i[read_characters read_tokens] : READING
      received = 0
      send(ways.sample(random: dice), io, dice) do |piece|
        at_home
        mark.check(piece, received)
        received += piece.bytesize
      end
      received
    end

    def write_whole(io, bytes, _dice)
      io.write(bytes)
    end

    def write_pieces(io, bytes, dice)
      cut(bytes, dice) do |piece|
        io.write(piece)
        io.flush
      end
    end

    def write_appended(io, bytes, dice)
      cut(bytes, dice) { |piece| chance(2, dice) ? io << piece : io.print(piece) }
      io.flush
    end

    def write_nonblock(io, bytes, _dice)
      until bytes.empty?
        written = io.write_nonblock(bytes, exception: false)
        written == :wait_writable ? io.wait_writable : bytes = bytes.byteslice(written..)
      end
    end

    def write_sys(io, bytes, dice)
      cut(bytes, dice) do |piece|
        piece = piece.byteslice(io.syswrite(piece)..) until piece.empty?
      rescue Errno::EAGAIN # on a thread
        io.wait_writable
        retry
      end
    end

    def cut(bytes, dice)
      until bytes.empty?
        piece = bytes.byteslice(0, dice.rand(1..PIECE_MAX))
        bytes = bytes.byteslice(piece.bytesize..)
        yield piece
        at_home
        sleep(short(dice)) if chance(20, dice)
      end
    end

    def read_whole(io, _dice)
      yield io.read
    end

    def read_parts(io, dice)
      loop { yield io.readpartial(dice.rand(1..PIECE_MAX)) }
    rescue EOFError
      nil
    end

    def read_lengths(io, dice)
      while (piece = io.read(dice.rand(1..PIECE_MAX))) do yield piece end
    end

    def read_tokens(io, _dice, &block)
      io.each_line(";", &block)
    end

    def read_characters(io, _dice)
      while (character = io.getc) do yield character end
    end

    def read_nonblock(io, dice)
      while (piece = io.read_nonblock(dice.rand(1..PIECE_MAX), exception: false))
        piece == :wait_readable ? io.wait_readable : yield(piece)
      end
    end

    def read_waiting(io, dice)
      loop do
        io.wait_readable(NAP_LONG) until io.wait_readable(short(dice))
        yield io.readpartial(PIECE_MAX)
      end
    rescue EOFError
      nil
    end
  end
end
