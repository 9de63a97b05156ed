# frozen_string_literal: true

# The clients of a callback-less reactor, Upwell::Loop or Ever::Loop. A connection is its own key, and watched as long as it lives: for
# reading, or for writing while its client does not keep up.
class ReactorConnectionWatcher
  def initialize(reactor)
    @reactor = reactor
  end

  # @param wanted [:read, :write]
  def watch(connection, wanted)
    @reactor.watch_io(connection, connection.io, wanted == :write, false)
    connection.awaited = wanted
  end

  # One that is not watched yet is from now on.
  def progress(connection)
    case (wanted = connection.progress)
    when connection.awaited then nil
    when :close then close(connection)
    else
      unwatch(connection)
      watch(connection, wanted)
    end
  end

  private

  def close(connection)
    unwatch(connection)
    connection.io.close
  end

  def unwatch(connection)
    @reactor.unwatch(connection) if connection.awaited
  end
end
