# frozen_string_literal: true

module Upwell
  class Server
    module Logs
      # Redirects streams (standard output and error first) to files, and reopens the files after a rotation (logrotate). The streams keep their
      # descriptors all the time: otherwise a client's connection could get one, and would receive the log.
      class LogFile
        # Opening a pipe without a reader fails: a wait for a reader would block signal handling.
        FLAGS = File::WRONLY | File::APPEND | File::CREAT | File::NONBLOCK

        # A redirected stream: its IO, its descriptor, the option that names the file, and the path or nil.
        Stream = Struct.new(:io, :number, :option, :path)

        # @return [Array(Integer, Integer), nil] user and group of new files, as long as the process is root
        attr_accessor :owner

        # @param path [String, nil] nil leaves standard output and error as they are
        def initialize(path)
          @streams = [$stdout, $stderr].map { |io| Stream.new(io, io.fileno, "--log-file", path) }
        end

        # Adds a stream.
        #
        # @param path [String]
        # @param option [String] the command line option of the file
        # @return [IO] the stream, which is open after {#open}
        def add(path, option)
          IO.for_fd(IO.sysopen(File::NULL, "a"), "a").tap { |io| @streams << Stream.new(io, io.fileno, option, path) }
        end

        # Opens the files.
        #
        # @raise [ConfigurationError] when a file cannot be written
        def open
          @streams.each { |stream| stream.path &&= File.expand_path(stream.path) }
          reopen do |stream, error|
            raise ConfigurationError, "log file #{stream.path} cannot be written: #{ErrnoText.of(error)}; choose another with #{stream.option}"
          end
        end

        # Opens the files again. If a file cannot be written, the server keeps the old one.
        def open_again
          reopen do |stream, error|
            Log.tell("log file #{stream.path} cannot be opened again: #{ErrnoText.of(error)}; the log continues in the old file until SIGHUP")
          end
        end

        private

        def reopen
          @streams.each do |stream|
            replace(stream) if stream.path
            stream.io.sync = true unless stream.io.closed? # the application may have closed the IO, but others write to the descriptor
          rescue SystemCallError, IOError => e
            yield stream, e
          end
        end

        def replace(stream)
          File.open(stream.path, FLAGS) do |file|
            file.chown(*owner) if owner && Process.euid.zero? && file.stat.file?
            Descriptor.replace(stream.number, file.fileno)
          end
        end
      end
    end
  end
end
