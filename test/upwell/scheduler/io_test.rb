# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/under_each_scheduler"
require "net/http"
require "tmpdir"

class SchedulerIOTest < Minitest::Test
  include UnderEachScheduler

  BIG = ("0123456789abcdef" * (WINDOWS ? 16_384 : 65_536)).freeze # a pipe of Windows takes 4 KiB at once

  def test_a_reader_waits_for_a_writer
    on_every_backend do
      [IO.pipe, UNIXSocket.pair].each do |reader, writer|
        Fiber.schedule do
          assert_equal ["line\n", "12345", "rest"], [reader.gets, reader.read(5), reader.read]
          assert_nil reader.gets
          reader.close
        end
        Fiber.schedule do
          ["li", "ne\n12", "345re", "st"].each { |piece| writer.write(piece) && sleep(0.001) }
          writer.close
        end
      end
    end
  end

  def test_a_writer_waits_for_a_slow_reader
    on_every_backend do
      [IO.pipe, UNIXSocket.pair].each do |reader, writer|
        Fiber.schedule { writer.write(BIG) && writer.close }
        Fiber.schedule { sleep(0.005) && assert_equal(BIG, reader.read) }
      end
    end
  end

  # What one takes, the others go on waiting for, without blocking the thread.
  def test_several_fibers_read_one_stream
    on_every_backend do
      [IO.pipe, UNIXSocket.pair].each do |reader, writer|
        [-> { reader.readpartial(1) }, -> { reader.sysread(1) }].each do |read|
          found = []
          3.times { Fiber.schedule { found << read.call } }
          Fiber.schedule { %w[a b c].each { |byte| writer.write(byte) && sleep(0.001) } }
          Fiber.scheduler.run
          assert_equal %w[a b c], found.sort
        end
      end
    end
  end

  def test_several_fibers_write_to_one_full_stream
    on_every_backend do
      [IO.pipe, UNIXSocket.pair].each do |reader, writer|
        left = 3
        written = 3 * BIG.bytesize
        3.times { Fiber.schedule { writer.write(BIG) && (left -= 1).zero? && writer.close } }
        Fiber.schedule { sleep(0.001) && assert_equal(written, reader.read.bytesize) }
        Fiber.scheduler.run
      end
    end
  end

  # On a stream that is full at times.
  def test_lines_of_several_fibers_stay_whole
    writes = [->(writer, name) { writer.puts(name * 3) }, ->(writer, name) { writer.write(name, name, name, "\n") }]
    on_every_backend do
      [IO.pipe, UNIXSocket.pair, tcp_pair].product(writes) do |(reader, writer), write|
        20.times { |i| Fiber.schedule { 250.times { write.call(writer, "line#{i}.") } } }
        lines = []
        Fiber.schedule { 5_000.times { lines << reader.gets } }
        Fiber.scheduler.run
        assert_empty(lines.grep_v(/\A(line\d+\.)\1\1\n\z/))
      end
    end
  end

  def test_pieces_of_several_encodings_are_written
    on_every_backend do
      reader, writer = IO.pipe.each(&:binmode)
      pieces = ["\u00e4", "\u00e4".encode("ISO-8859-1"), "a".encode("UTF-16LE"), :b, nil, 1]
      Fiber.schedule do
        assert_equal 7, writer.write(*pieces)
        writer.close
        assert_equal "\u00e4\xe4a\0b1".b, reader.read.b
      end
    end
  end

  def test_several_fibers_accept_from_one_socket
    on_every_backend do
      server = TCPServer.new("127.0.0.1", 0)
      accepted = []
      3.times { Fiber.schedule { accepted << server.accept } }
      clients = []
      Fiber.schedule { 3.times { clients.push(TCPSocket.new("127.0.0.1", server.addr[1])) && sleep(0.001) } }
      Fiber.scheduler.run
      assert_equal 3, accepted.size
      [server, *accepted, *clients].each(&:close)
    end
  end

  # A file that is read from the disk: in Ruby 3.1 only one of the fibers that ask for a constant finds it, if that one waits meanwhile.
  def test_every_fiber_finds_what_is_loaded_from_a_file_that_is_not_cached
    on_every_backend do |_, backend|
      name = :"Loaded#{backend.to_s.delete("_").capitalize}"
      Dir.mktmpdir("upwell", Dir.pwd) do |folder|
        path = File.join(folder, "loaded.rb")
        File.open(path, "w") { |file| file.write("# #{"x" * 100_000}\n#{name} = 1\n") && file.fsync && file.advise(:dontneed) }
        Object.autoload(name, path)
        found = Array.new(3) { [] }
        found.each { |values| Fiber.schedule { values << Object.const_get(name) } }
        Fiber.scheduler.run
        assert_equal [[1]] * 3, found
      end
    end
  end

  def test_read_nonblock_does_not_wait
    on_every_backend do
      [IO.pipe, UNIXSocket.pair].each do |reader, writer|
        Fiber.schedule do
          assert_equal :wait_readable, reader.read_nonblock(5, exception: false)
          assert_raises(IO::WaitReadable) { reader.read_nonblock(5) }
          writer << "x"
          assert_equal "x", reader.read_nonblock(5)
        end
      end
    end
  end

  def test_wait_readable_and_writable
    on_every_backend do
      reader, writer = IO.pipe
      Fiber.schedule do
        assert_nil reader.wait_readable(0.001)
        assert_equal writer, writer.wait_writable(10)
        assert_equal reader, reader.wait_readable(10)
        assert_equal "x", reader.readpartial(8)
      end
      Fiber.schedule { sleep(0.01) && (writer << "x") }
    end
  end

  def test_two_fibers_wait_for_one_socket
    on_every_backend do
      one, other = UNIXSocket.pair
      readers = Array.new(2) { Thread::Queue.new.tap { |done| Fiber.schedule { done << one.readpartial(1) } } }
      Fiber.schedule { assert_equal one, one.wait_readable }
      Fiber.schedule { sleep(0.005) && other.write("ab") }
      Fiber.schedule { assert_equal(%w[a b], readers.map(&:pop).sort) }
    end
  end

  def test_a_closed_io_ends_those_who_wait_for_it
    on_every_backend do
      [IO.pipe, UNIXSocket.pair].each do |reader, _|
        Fiber.schedule { assert_raises(IOError) { reader.read(1) } }
        Fiber.schedule { assert_raises(IOError) { reader.wait_readable } }
        Fiber.schedule { reader.close }
      end
    end
  end

  # The next descriptor has the number of the last.
  def test_numbers_are_used_again
    on_every_backend do
      50.times do |i|
        Fiber.schedule do
          reader, writer = IO.pipe
          Fiber.schedule { sleep(0.001) && writer.write(i.to_s) && writer.close }
          assert_equal i.to_s, reader.read
          reader.close
        end
      end
    end
  end

  def test_files
    on_every_backend do
      Fiber.schedule do
        Tempfile.create("upwell") do |file|
          assert_equal BIG.size, File.write(file.path, BIG)
          assert_equal BIG, File.read(file.path)
          File.open(file.path, "r+") do |same|
            same.seek(16)
            assert_equal ["0123", "4567", "89abcdef0"], [same.read(4), same.sysread(4), same.pread(9, 8)]
            assert_equal 2, same.pwrite("xy", 1)
            same.rewind
            assert_equal "0xy34", same.readpartial(5)
          end
        end
      end
    end
  end

  def test_buffers
    on_every_backend do
      reader, writer = UNIXSocket.pair
      buffer = IO::Buffer.new(8)
      Fiber.schedule do
        assert_equal 6, buffer.read(reader, 6)
        assert_equal "abcdef", buffer.get_string(0, 6)
        refute buffer.locked?
      end
      Fiber.schedule { writer.write("abc") && sleep(0.005) && writer.write("def") }
    end
  end

  def test_a_terminal
    skip_on_windows "Ruby has no pseudoterminals there"
    require "pty"
    on_every_backend do
      PTY.open do |terminal, program|
        Fiber.schedule { sleep(0.005) && terminal.write("typed\n") }
        Fiber.schedule do
          assert_equal "typed\n", program.gets
          program.puts "shown"
          shown = +""
          shown << terminal.readpartial(100) until shown.include?("shown\r\n")
          assert_equal :wait_readable, program.read_nonblock(10, exception: false)
          terminal.write("again\n")
          program.wait_readable
          assert_equal "again\n", program.read_nonblock(10)
        end
        Fiber.scheduler.run
      end
    end
  end

  def test_tcp_and_udp
    on_every_backend do
      server = TCPServer.new("127.0.0.1", 0)
      Fiber.schedule { server.accept.tap { |client| client.write(client.gets.upcase) }.close }
      Fiber.schedule { TCPSocket.open("127.0.0.1", server.addr[1]) { |c| c.puts("abc") || assert_equal("ABC\n", c.read) } }
      receiver = UDPSocket.new.tap { |socket| socket.bind("127.0.0.1", 0) }
      Fiber.schedule { assert_equal "datagram", receiver.recvfrom(100).first }
      Fiber.schedule { sleep(0.005) && UDPSocket.new.send("datagram", 0, "127.0.0.1", receiver.addr[1]) }
      Fiber.schedule do
        assert_raises(Errno::ECONNREFUSED) { TCPSocket.new("127.0.0.1", TCPServer.open("127.0.0.1", 0) { |s| s.addr[1] }) }
      end
    end
  end

  def test_tcp_writers_that_are_ready_together
    on_every_backend do
      pairs = Array.new(20) { tcp_pair }
      messages = pairs.each_index.map { |i| i.to_s * (i.even? ? 10 : BIG.size) }
      pairs.zip(messages) do |(near, _), message|
        Fiber.schedule { sleep(0) && near.write(message) && near.close }
      end
      pairs.zip(messages) { |(_, far), message| Fiber.schedule { assert_equal message, far.read } }
    end
  end

  def test_tcp_writers_whose_reader_has_left
    on_every_backend do
      Array.new(3) { tcp_pair }.each do |near, far|
        far.close
        Fiber.schedule do
          assert_raises(Errno::EPIPE, Errno::ECONNRESET) { loop { sleep(0) && near.write(BIG) } }
          near.close
        end
      end
    end
  end

  def test_net_http_and_its_timeout
    on_every_backend do
      server = TCPServer.new("127.0.0.1", 0)
      Fiber.schedule do
        3.times do
          client = server.accept
          Fiber.schedule { answer(client) }
        end
      end
      2.times do
        Fiber.schedule { assert_equal "hello", Net::HTTP.get(URI("http://127.0.0.1:#{server.addr[1]}/")) }
      end
      Fiber.schedule do
        Net::HTTP.start("127.0.0.1", server.addr[1], read_timeout: 0.01, max_retries: 0) do |http|
          assert_raises(Net::ReadTimeout) { http.get("/slow") }
        end
      end
    end
  end

  def test_select
    skip "Ruby asks the scheduler since 3.2" if RUBY_VERSION < "3.2"

    on_every_backend do
      quiet, _quiet_writer = IO.pipe
      reader, writer = IO.pipe
      Fiber.schedule do
        assert_nil IO.select([quiet], nil, nil, 0.001)
        assert_equal [[], [writer], []], IO.select([reader], [writer])
        Fiber.schedule { sleep(0.01) && (writer << "12") }
        assert_equal [[reader], [], []], IO.select([quiet, reader], nil, nil, 10)
        assert_equal "1", reader.getc
        assert_equal [[reader], [], []], IO.select([reader], nil, nil, 0) # what was read ahead
        Timeout.timeout(0.01) { assert_raises(Timeout::Error) { IO.select([quiet]) } }
      end
    end
  end

  def test_select_tells_of_those_that_it_was_given
    skip "Ruby asks the scheduler since 3.2" if RUBY_VERSION < "3.2"

    on_every_backend do |_, backend|
      readers, writers = Array.new(3) { IO.pipe }.transpose
      changed = readers.dup
      Fiber.schedule { assert_equal [[readers[1]], [], []], IO.select(changed, nil, nil, PATIENCE / 2), backend }
      Fiber.schedule { changed.clear.push(readers[2]) && (writers[1] << "1") }
    end
  end

  # Ruby asks for it as for readpartial: only who asks tells them apart.
  def test_read_nonblock_does_not_wait_where_a_hook_is_wrapped
    wrapping = Class.new(Upwell::Scheduler) do
      def io_read(*arguments)
        arguments.then { |all| super(*all) }
      end
    end
    on_every_backend(of: wrapping) do
      reader, writer = IO.pipe
      Fiber.schedule { assert_equal :wait_readable, reader.read_nonblock(1, exception: false) }
      Fiber.schedule { assert_equal "1", reader.readpartial(1) }
      writer << "1"
    end
  end

  def test_urgent_data
    on_every_backend do
      client, server = tcp_pair
      Fiber.schedule { assert_same server, server.wait_priority(PATIENCE / 2) }
      Fiber.schedule do
        client.write("ordinary")
        assert_nil server.wait_priority(0.01)
        client.send("!", Socket::MSG_OOB)
      end
    end
  end

  def test_the_timeout_of_an_io
    skip "IO#timeout= is there since Ruby 3.2" unless IO.method_defined?(:timeout=)

    on_every_backend do
      [IO.pipe, UNIXSocket.pair].each do |reader, _writer|
        reader.timeout = 0.01
        Fiber.schedule { assert_raises(IO::TimeoutError) { reader.read(1) } }
        Fiber.schedule { assert_raises(IO::TimeoutError) { reader.wait_readable } }
      end
    end
  end

  def test_puts_of_nothing
    on_every_backend do
      reader, writer = IO.pipe
      Fiber.schedule do
        writer.puts("", nil)
        writer.puts
        writer.write("", "x", "")
        writer.close
      end
      Fiber.schedule { assert_equal "\n\n\nx", reader.read }
    end
  end

  private

  def tcp_pair
    TCPServer.open("127.0.0.1", 0) { |server| [TCPSocket.new("127.0.0.1", server.addr[1]), server.accept] }
  end

  def answer(client)
    path = client.gets
    nil until client.gets == "\r\n"
    sleep(0.05) if path.include?("slow")
    client.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
  rescue Errno::EPIPE, Errno::ECONNRESET
    assert_includes path, "slow"
  ensure
    client.close
  end
end
