# frozen_string_literal: true

require "test_helper"
require "tmpdir"

# Streams whose files are opened again, while others write to them.
class LogFileTest < Minitest::Test
  PIPE_HOLDS_LESS = 200_000 # bytes

  def within(&block)
    Timeout.timeout(60, &block)
  end

  def in_folder
    Dir.mktmpdir { |folder| yield File.join(folder, "log") }
  end

  def target(stream)
    File.readlink("/proc/self/fd/#{stream.fileno}")
  end

  # @yieldparam stream [IO] that goes to the path
  # @yieldparam log_file [Upwell::Server::Logs::LogFile]
  def open_log(path)
    log_file = Upwell::Server::Logs::LogFile.new(nil)
    stream = log_file.add(path, "--access-log")
    log_file.open
    yield stream, log_file
  ensure
    stream&.close
  end

  # @yieldparam path [String] of the pipe
  # @yieldparam reader [IO] its other end
  # @yieldparam stream [IO] that goes to it
  # @yieldparam log_file [Upwell::Server::Logs::LogFile]
  def open_log_to_pipe
    in_folder do |path|
      File.mkfifo(path)
      File.open(path, "r+") { |reader| open_log(path) { |stream, log_file| yield path, reader, stream, log_file } }
    end
  end

  def assert_all_is_read(reader, writer)
    within { reader.readpartial(PIPE_HOLDS_LESS) until writer.join(0.01) }
    assert_equal PIPE_HOLDS_LESS, writer.value
  end

  def test_a_thread_that_writes_meanwhile_is_not_interrupted
    open_log_to_pipe do |path, reader, stream, log_file|
      writer = Thread.new { stream.write("x" * PIPE_HOLDS_LESS) }
      within { Thread.pass until reader.wait_readable(0) && writer.stop? }
      File.unlink(path)
      log_file.open_again
      assert_all_is_read(reader, writer)
      assert_equal path, target(stream)
    end
  end

  def test_a_pipe_without_a_reader_is_not_waited_for
    in_folder do |path|
      open_log(path) do |stream, log_file|
        File.rename(path, "#{path}.1")
        File.mkfifo(path)
        _, told = capture_io { within { log_file.open_again } }
        assert_match(/cannot be opened again/, told)
        assert_equal "#{path}.1", target(stream)
      end
    end
  end

  # By write(2) itself, which a signal may interrupt.
  def test_a_pipe_that_is_full_is_waited_for
    open_log_to_pipe do |_, reader, stream, _|
      assert_all_is_read(reader, Thread.new { write_all(stream, PIPE_HOLDS_LESS) })
    end
  end

  def write_all(stream, bytes)
    written = 0
    written += stream.syswrite("x" * (bytes - written)) while written < bytes
    written
  end
end
