# frozen_string_literal: true

module Torture
  module ActivityKinds
    # Bytes from one fiber to another, or to a thread and back.
    module PipesAndSockets
      NUMBERS_MAX = 20

      def pipe
        transfer(*own(*IO.pipe(binmode: true)))
      end

      def pair
        transfer(*own(*UNIXSocket.pair))
      end

      def tcp
        server = own(TCPServer.new("127.0.0.1", 0))
        converse(server) { TCPSocket.new("127.0.0.1", server.addr[1]) }
      end

      def unix
        path = "#{FOLDER}/#{@name}"
        server = own(UNIXServer.new(path))
        converse(server) { UNIXSocket.new(path) }
      ensure
        File.unlink(path) if server
      end

      def udp
        receiver = own(UDPSocket.new)
        receiver.bind("127.0.0.1", 0)
        sender = own(UDPSocket.new)
        mark = new_mark
        beside { |dice| sleep(short(dice)) && sender.send(mark.bytes(500), 0, "127.0.0.1", receiver.addr[1]) }
        mark.check(receiver.recvfrom(1000).first, 0)
      end

      # A thread is at the other end.
      def to_thread
        reader, writer = own(*IO.pipe(binmode: true))
        size = some_size
        mark = new_mark
        dice = more_dice
        thread = own_thread { read_marked(reader, mark, size, dice) }
        write_marked(writer, mark, size, @dice)
        writer.close
        check(thread.value == size, "length")
      end

      def from_thread
        reader, writer = own(*UNIXSocket.pair)
        size = some_size
        mark = new_mark
        own_thread { |dice| write_marked(writer, mark, size, dice) && writer.close }
        check(read_marked(reader, mark, size) == size, "length")
      end

      # Both directions of one socket by two fibers each.
      def duplex
        one, other = own(*UNIXSocket.pair)
        marks = [new_mark, new_mark]
        sizes = [some_size, some_size]
        ends = Thread::Queue.new
        [[one, other], [other, one]].each_with_index do |(from, to), index|
          beside { |dice| write_marked(from, marks[index], sizes[index], dice) && from.close_write }
          beside { |dice| ends << (read_marked(to, marks[index], sizes[index], dice) == sizes[index]) }
        end
        2.times { check(own_queue(ends).pop, "length") }
      end

      # Messages of one byte stream, taken by several fibers at once: each byte once.
      def shared_reader
        reader, writer = own(*IO.pipe(binmode: true))
        count = @dice.rand(1..NUMBERS_MAX)
        found = own_queue(Thread::Queue.new)
        2.times { beside { loop { found << reader.readpartial(1) } rescue found << nil } } # rubocop:disable Style/RescueModifier
        count.times { |number| writer.syswrite((number + 65).chr) && (sleep(0) if number.odd?) }
        writer.close
        characters = []
        ends = 0
        (character = found.pop) ? characters << character : ends += 1 until ends == 2
        check(characters.sort.join == Array.new(count) { |number| (number + 65).chr }.join, "letters #{characters.join}")
      end

      def file
        file = temporary_file
        size = some_size
        mark = new_mark
        write_marked(file, mark, size, more_dice)
        file.rewind
        check(read_marked(file, mark, size) == size, "length")
      end

      def name_of_host
        check(Addrinfo.getaddrinfo("localhost", 80, nil, :STREAM).all?(&:ip_port), "address")
      end

      private

      # What the client says comes back.
      def converse(server)
        beside { echo(own(server.accept)) }
        client = own(yield)
        transfer(client, client, finish: :close_write)
      end

      def echo(client)
        loop { client.write(client.readpartial(4096)) && at_home }
      rescue EOFError
        nil
      ensure
        client.close
      end
    end
  end
end
