# frozen_string_literal: true

# Applications that give their response, or the connection, to threads of their own. The query names the client, in all that it gets.
class ResponsesFromThreads
  LINES = 200
  TRIES = 100 # of what comes too late

  def call(env)
    name = env["PATH_INFO"].delete_prefix("/").tr("-", "_")
    return [404, {}, ["no #{name}"]] unless respond_to?(name, true)

    send(name, env, env["QUERY_STRING"])
  end

  private

  def plain(_env, client)
    [200, { "x-client" => client }, ["#{client}\n"]]
  end

  def stream(_env, client)
    [200, { "x-client" => client }, lambda { |stream|
      Thread.new { LINES.times { |line| stream.write("#{client} #{line}\n") } }.join
      stream.close
    }]
  end

  # The thread of the request and two others write by turns.
  def stream_by_turns(_env, client)
    [200, { "x-client" => client }, lambda { |stream|
      (LINES / 4).times do |turn|
        stream.write("#{client} #{4 * turn}\n")
        2.times { |other| Thread.new { stream.write("#{client} #{(4 * turn) + 1 + other}\n") }.join }
        stream.write("#{client} #{(4 * turn) + 3}\n")
      end
      stream.close
    }]
  end

  # What a thread writes after the end is refused, and reaches nobody.
  def stream_too_long(_env, client)
    [200, { "x-client" => client }, lambda { |stream|
      Thread.new { TRIES.times { stream.write("#{client} 0\n") } }.report_on_exception = false
      stream.write("#{client} 0\n")
      stream.close
    }]
  end

  Each = Struct.new(:client) do
    def each(&block)
      Thread.new { LINES.times { |line| block.call("#{client} #{line}\n") } }.join
    end
  end

  def each(_env, client)
    [200, { "x-client" => client }, Each.new(client)]
  end

  def hints(env, client)
    hint = { "link" => "<#{client}>" }
    Thread.new { env["rack.early_hints"].call(hint) }.join
    env["rack.early_hints"].call(hint)
    plain(env, client)
  end

  def late_hints(env, client)
    Thread.new { TRIES.times { env["rack.early_hints"].call("link" => "<#{client}>") } }.report_on_exception = false
    plain(env, client)
  end

  # The header's value waits, so the request may have ended when the hints are ready.
  def slow_hints(env, client)
    value = Object.new
    value.define_singleton_method(:to_s) { sleep(0.01) && "<#{client}>" }
    Thread.new { env["rack.early_hints"].call("link" => value) }.report_on_exception = false
    plain(env, client)
  end

  def hijack(env, client)
    Thread.new { answer(env["rack.hijack"].call, client) }.join
    [-1, {}, []]
  end

  # It may come too late.
  def late_hijack(env, client)
    Thread.new { answer(env["rack.hijack"].call, client) }.report_on_exception = false
    Thread.pass
    plain(env, client)
  end

  def answer(io, client)
    io.write("HTTP/1.1 200 OK\r\nx-client: #{client}\r\nContent-Length: #{client.size + 1}\r\nConnection: close\r\n\r\n#{client}\n")
    io.close
  end

  def refused_hijack(env, _client)
    message = Thread.new do
      env["rack.hijack"].call && "given"
    rescue IOError => e
      e.message
    end.value
    [200, {}, message == "given" ? [] : [message]]
  end

  def refused_write(_env, _client)
    [200, {}, lambda { |stream|
      message = Thread.new do
        stream.write("given")
        "given"
      rescue IOError => e
        e.message
      end.value
      stream.write(message)
      stream.close
    }]
  end
end

run ResponsesFromThreads.new
