# frozen_string_literal: true

module Torture
  module ActivityKinds
    # IO.copy_stream, which waits in the middle.
    module IOCopies
      def copy_to_file
        reader, writer = own(*IO.pipe(binmode: true))
        size = some_size
        mark = new_mark
        beside { |dice| sleep(short(dice)) && write_marked(writer, mark, size, dice) && writer.close }
        file = temporary_file
        check(IO.copy_stream(reader, file) == size, "length")
        file.rewind
        mark.check(file.read, 0)
      end

      def copy_to_stream
        reader, writer = own(*UNIXSocket.pair)
        size = some_size
        mark = new_mark
        file = temporary_file
        file.write(mark.bytes(size))
        file.rewind
        beside { check(IO.copy_stream(file, writer) == size, "length") && writer.close }
        check(read_marked(reader, mark, size) == size, "length")
      end

      def copy_between_streams
        reader, between_writer = own(*UNIXSocket.pair)
        between_reader, writer = own(*IO.pipe(binmode: true))
        size = some_size
        mark = new_mark
        beside { |dice| write_marked(between_writer, mark, size, dice) && between_writer.close }
        beside { IO.copy_stream(reader, writer) && writer.close }
        check(read_marked(between_reader, mark, size) == size, "length")
      end
    end
  end
end
