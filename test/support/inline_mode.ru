# frozen_string_literal: true

require "rack"
require "timeout"

# What belongs to a request is kept by thread, or by fiber, until its body is closed, as request_store does.
class Store
  def initialize(app)
    @app = app
  end

  def call(env)
    status, headers, body = @app.call(env)
    [status, headers, Rack::BodyProxy.new(body) { Thread.current[:store] = Thread.current.thread_variable_set(:store, nil) }]
  end
end

# Bodies that do not let others in before they are closed, however slow their clients are.
class OneByOne
  PIECES = 400
  ROWS = 100_000
  BURST = ["." * 100_000] * 40
  Who = Struct.new(:env) do
    def each
      yield [Thread.current[:store], Thread.current.thread_variable_get(:store)].inspect
    end
  end

  # Pieces, large or small, in which the request's own mark stands.
  Export = Struct.new(:bytes, :times) do
    def each
      times.times { yield Thread.current[:store].ljust(bytes, ".") }
    end
  end

  # In the midst of what it is ahead of a slow client it forks a child that goes on by itself.
  Forking = Class.new do
    def each(&block)
      half = Export.new(100_000, PIECES / 2)
      half.each(&block)
      Process.wait(fork { half.each(&block) })
      half.each(&block)
    end
  end

  # Ends its rows when the time is up, and goes on.
  Expiring = Class.new do
    def each
      i = 0
      begin
        Timeout.timeout(0.3) { loop { yield format("%-10d", i += 1) } }
      rescue Timeout::Error
        yield "end"
      end
    end
  end

  # Tries again whenever a piece is not taken.
  Stubborn = Class.new do
    def each
      errors = Array.new(PIECES) do
        yield Thread.current[:store].ljust(100_000, ".")
      rescue SystemCallError, IOError => e
        e.message
      end
      warn "not taken: #{errors.grep(String).chunk_while(&:==).map(&:first).inspect}"
    end
  end

  # For ever, and within C.
  Cycling = Class.new do
    def each(&block)
      thread = Thread.current
      Thread.new { thread.raise("the time is up") }
      [Thread.current[:store].ljust(100_000, ".")].cycle(&block)
    end
  end

  # Waits for files that its client makes when it has the pieces before.
  Paced = Struct.new(:folder) do
    def each
      yield "one"
      sleep 0.01 until File.exist?("#{folder}/one")
      yield "two"
      yield "three"
      sleep 0.01 until File.exist?("#{folder}/three")
      yield "four"
    end
  end

  # More than its client takes, and then, until that has made a file, a little now and then.
  Trickling = Class.new do
    def initialize(folder)
      @folder = folder
    end

    def call(stream)
      BURST.each { |piece| stream.write(piece) }
      File.write("#{@folder}/burst", "")
      trickle(stream)
    rescue Errno::EPIPE
      warn "the client of a trickle has left"
      raise
    end
  end

  Ticking = Class.new(Trickling) do
    def trickle(stream)
      until File.exist?("#{@folder}/go")
        stream.write("tick")
        sleep 0.01
      end
    end
  end

  Flushing = Class.new(Trickling) do
    def trickle(stream)
      stream.write("tick")
      until File.exist?("#{@folder}/go")
        sleep 0.01
        stream.flush
      end
    end
  end

  def call(env)
    if env["QUERY_STRING"].empty?
      Thread.current[:store] ||= "nobody"
    else
      Thread.current.thread_variable_set(:store, Thread.current[:store] = env["QUERY_STRING"])
    end
    [200, {}, body(env)]
  end

  private

  def body(env)
    case env["PATH_INFO"]
    when "/who" then Who.new(env)
    when "/file" then Rack::Files::BaseIterator.new(__FILE__, [0..9], {})
    when "/pieces" then Export.new(100_000, PIECES)
    when "/expires" then Expiring.new
    when "/paced" then Paced.new(env["QUERY_STRING"])
    when "/stubborn" then Stubborn.new
    when "/cycles" then Cycling.new
    when "/ticks" then Ticking.new(env["QUERY_STRING"])
    when "/flushes" then Flushing.new(env["QUERY_STRING"])
    when "/forks" then Forking.new
    when "/rows" then Export.new(10, ROWS)
    else [Thread.current[:store]]
    end
  end
end

use Rack::Lock
use Store
run OneByOne.new
