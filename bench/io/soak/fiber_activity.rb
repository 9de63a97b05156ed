# frozen_string_literal: true

require "socket"
require "tempfile"

module Bench
  module Io
    # One thing that a fiber does, of many kinds, in some milliseconds; it may be ended early at any place where it waits. Whatever it took is
    # given back by {#finish}.
    class FiberActivity
      # Kinds and how often each is done.
      KINDS = { pipe: 6, tcp: 4, udp: 2, stuck_read: 3, stuck_write: 3, wait_readable: 2, select: 2, file: 2, nap: 6, queue: 4, thread_queue: 2,
                lock: 4, condition: 3, join: 2, name: 2, process: 1, command: 1 }.freeze
      PIPE_BYTES_MAX = 200_000
      ECHO_BYTES_MAX = 50_000
      NAP_MAX = 0.005 # seconds
      LONG = 600 # seconds: more than a machine may stand still
      NUMBERS = 20

      # What it did was not what it should have done.
      Wrong = Class.new(StandardError)

      # @param round [DisturbedFibersRound] starts the fibers that help
      # @param random [Random]
      def initialize(round, random)
        @round = round
        @random = random
        @kind = KINDS.flat_map { |kind, count| [kind] * count }.sample(random: random)
        @ios = []
        @queues = []
        @threads = []
        @children = []
        @over = @robbed = false
        @file = open_file if @kind == :file
      end

      attr_reader :kind

      def run
        send(@kind)
      end

      def over?
        @over
      end

      # Whether something it waited for was closed, so that it may end in any way.
      def robbed?
        @robbed
      end

      # Closes one of its IOs, as a neighbour may.
      def rob
        return if @ios.empty?

        @robbed = true
        @ios.sample(random: @random).close
      end

      # Part of it cannot go on: so that the rest does not wait for that part.
      def give_up
        @ios.each(&:close)
        @queues.each(&:close)
      end

      # Gives everything back; what it waits for here is not disturbed any more.
      def finish
        @over = true
        give_up
        @threads.each(&:join)
        @children.each { |pid| end_child(pid) }
      end

      private

      # Beforehand: since Ruby 3.4 it is a thread that opens a file, and an exception meanwhile has Ruby forget the descriptor.
      def open_file
        Tempfile.create("soak").tap { |file| File.unlink(file.path) }
      end

      def own(*ios)
        @ios.concat(ios)
        return ios.size == 1 ? ios.first : ios unless @over

        ios.each(&:close)
        raise IOError, "the activity is over"
      end

      def own_queue(queue)
        @queues << queue
        queue
      end

      def own_thread(&block)
        thread = Thread.new do
          block.call
        rescue ClosedQueueError
          nil # the activity is over
        end
        @threads << thread
        thread
      end

      def beside(&block)
        @round.help(self, &block)
      end

      def check(result)
        raise Wrong, "#{@kind} had the wrong result" unless result
      end

      def some_bytes(max)
        @random.bytes(16) * @random.rand(1..(max / 16))
      end

      def short
        @random.rand * NAP_MAX
      end

      def nap
        sleep(short)
      end

      def pipe
        reader, writer = own(*IO.pipe(binmode: true))
        bytes = some_bytes(PIPE_BYTES_MAX)
        beside { writer.write(bytes) && writer.close }
        check(reader.read == bytes)
      end

      def tcp
        server = own(TCPServer.new("127.0.0.1", 0))
        beside { echo(own(server.accept)) }
        client = own(TCPSocket.new("127.0.0.1", server.addr[1]))
        bytes = some_bytes(ECHO_BYTES_MAX)
        beside { client.write(bytes) && client.close_write }
        check(client.read == bytes)
      end

      def echo(client)
        loop { client.write(client.readpartial(4096)) }
      rescue EOFError
        client.close
      end

      def udp
        receiver = own(UDPSocket.new)
        receiver.bind("127.0.0.1", 0)
        sender = own(UDPSocket.new)
        beside { nap && sender.send("datagram", 0, "127.0.0.1", receiver.addr[1]) }
        check(receiver.recvfrom(64).first == "datagram")
      end

      def stuck_read
        reader, = own(*[IO.pipe, UNIXSocket.pair].sample(random: @random))
        timed_out { reader.read(1) }
      end

      def stuck_write
        socket, = own(*UNIXSocket.pair)
        timed_out { socket.write("x" * 4_000_000) }
      end

      def timed_out(&block)
        Timeout.timeout(short, &block)
        check(false)
      rescue Timeout::Error
        nil
      end

      def wait_readable
        reader, writer = own(*UNIXSocket.pair)
        check(reader.wait_readable(short).nil?)
        writer << "x"
        check(reader.wait_readable(LONG) == reader)
      end

      def select
        return nap if RUBY_VERSION < "3.2" # no hook: the thread would wait

        pairs = Array.new(3) { IO.pipe }
        own(*pairs.flatten)
        beside { nap && (pairs[1].last << "x") }
        ready = nil
        ready = IO.select(pairs.map(&:first), nil, nil, 1) until ready # again, as Ruby does not end it when one of them is closed
        check(ready == [[pairs[1].first], [], []])
      end

      def file
        file = own(@file)
        bytes = some_bytes(PIPE_BYTES_MAX)
        file.binmode.write(bytes)
        file.rewind
        check(file.read == bytes)
      end

      def queue
        queue = own_queue(Thread::SizedQueue.new(2))
        beside { NUMBERS.times { |number| queue << number } }
        check(Array.new(NUMBERS) { queue.pop } == [*0...NUMBERS])
      end

      def thread_queue
        queue = own_queue(Thread::Queue.new)
        own_thread { NUMBERS.times { |number| sleep(0.0002) && (queue << number) } }
        check(Array.new(NUMBERS) { queue.pop } == [*0...NUMBERS])
      end

      def lock
        mutex = Thread::Mutex.new
        holders = 0
        hold = proc do
          mutex.synchronize do
            check((holders += 1) == 1)
            sleep(short / 10)
          ensure
            holders -= 1
          end
        end
        3.times { beside { 2.times(&hold) } }
        own_thread(&hold) unless RUBY_VERSION < "3.3" # which may crash: Ruby's bug 19480
        hold.call
      end

      def condition
        mutex = Thread::Mutex.new
        condition = Thread::ConditionVariable.new
        come = false
        beside { nap && mutex.synchronize { (come = true) && condition.signal } }
        mutex.lock
        condition.wait(mutex, LONG) until come
      ensure
        mutex.unlock if mutex.owned? # under a scheduler, Ruby does not lock it again when an exception ends the wait
      end

      def join
        check(own_thread { sleep(short) && :done }.value == :done)
      end

      def name
        check(Addrinfo.getaddrinfo("localhost", 80, nil, :STREAM).all?(&:ip_port))
      end

      def process
        pid = Process.spawn("sleep", short.round(4).to_s)
        @children << pid
        _, status = Process.wait2(pid)
        @children.delete(pid)
        check(status.success?)
      end

      def command
        cat = own(IO.popen(["cat"], "r+b"))
        cat.write("hello")
        cat.close_write
        check(cat.read == "hello")
      end

      def end_child(pid)
        Process.kill("KILL", pid)
        Process.wait(pid)
      rescue Errno::ESRCH, Errno::ECHILD
        nil # it was waited for just before the fiber was ended
      end
    end
  end
end
