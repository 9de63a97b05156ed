# frozen_string_literal: true

# At a request for "/holds", has a thread keep the interpreter's lock, in one call without a pause, until a byte comes by the FIFO that the
# environment variable LOCK names; the process's title tells. See {WithInterpreterLockHeld}.
class InterpreterLockHolder
  READ = RUBY_PLATFORM.match?(/aarch64|arm64/) ? 63 : 0 # the number of read(2), see man 2 syscall

  def initialize(app)
    @app = app
  end

  def call(env)
    Thread.new { hold } if env["PATH_INFO"] == "/holds"
    @app.call(env)
  end

  private

  def hold
    File.open(ENV.fetch("LOCK"), "r+") do |fifo|
      Process.setproctitle("holding")
      syscall(READ, fifo.fileno, +" ", 1) # which keeps the lock, other than IO#read
      Process.setproctitle("done")
    end
  end
end
