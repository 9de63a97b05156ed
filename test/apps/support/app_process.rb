# frozen_string_literal: true

require_relative "../../support/server_process"

# A server of an application, with the gems of its bundle.
class AppProcess < ServerProcess
  # @param environment [Hash{String => String}]
  # @param command [Array<String>] that serves it, on a port that it tells
  # @param folder [String]
  def initialize(environment, command, folder) # rubocop:disable Lint/MissingSuper
    @lines = []
    @output, writer = IO.pipe
    @pid = ProcessGroup.spawn(environment, "bundle", "exec", *command, chdir: folder, out: writer, err: writer)
    writer.close
    @port = await(/serves on https?:\S+?:(\d+)/, START_MAX)[1].to_i
    @reader = Thread.new { read }
  rescue StandardError
    end_all
    raise
  end

  # @return [Process::Status]
  def stop
    Process.kill("TERM", pid)
    Timeout.timeout(STOP_MAX) { _, @status = Process.wait2(pid) }
    @reader.join
    @status
  end

  private

  # What it tells must not fill the pipe while others are looked at.
  def read
    @output.each_line { |line| @lines << line }
  end
end
