# frozen_string_literal: true

# Applications that have sent something, and then compute without ever waiting, until the client that has got it makes a file.
class AtOnce
  COMPUTING_MAX = 60 # seconds, when it gets nothing

  Streaming = Class.new do
    def initialize(computation)
      @computation = computation
    end

    def call(stream)
      stream.flush
      @computation.call("head")
      %w[one two].each { |piece| (stream << piece).flush }
      @computation.call("two")
      stream << "three"
    end
  end

  def call(env)
    env["PATH_INFO"] == "/hints" ? hint(env) : [200, {}, Streaming.new(computation(env))]
  end

  private

  def hint(env)
    %w[one two].each { |name| env["rack.early_hints"].call("link" => name) }
    computation(env).call("two")
    [200, {}, ["three"]]
  end

  def computation(env)
    lambda { |name|
      deadline = now + COMPUTING_MAX
      nil until File.exist?("#{env["QUERY_STRING"]}/#{name}") || now > deadline
    }
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end

run AtOnce.new
