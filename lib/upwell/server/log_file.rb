# frozen_string_literal: true

module Upwell
  class Server
    # Sends streams to files, standard output and error to begin with, and opens the files again after they were moved away (logrotate). The
    # streams keep their numbers, which are never free meanwhile: a client's connection would get them, and what is logged.
    class LogFile
      # A pipe without a reader is an error: waiting for one would keep signals from being obeyed.
      FLAGS = File::WRONLY | File::APPEND | File::CREAT | File::NONBLOCK

      # What is sent to a file, its number, the option that names the file, and its path, or nil.
      Stream = Struct.new(:io, :number, :option, :path)

      # @param path [String, nil] nil leaves standard output and error as they are
      def initialize(path)
        @streams = [$stdout, $stderr].map { |io| Stream.new(io, io.fileno, "--log-file", path) }
      end

      # @param path [String]
      # @param option [String] names it on the command line
      # @return [IO] another stream, open once {#open} was called
      def add(path, option)
        IO.for_fd(IO.sysopen(File::NULL, "a"), "a").tap { |io| @streams << Stream.new(io, io.fileno, option, path) }
      end

      # @raise [ConfigurationError] when a file cannot be written
      def open
        @streams.each { |stream| stream.path &&= File.expand_path(stream.path) }
        reopen do |stream, error|
          raise ConfigurationError, "log file #{stream.path} cannot be written: #{Reason.of(error)}; choose another with #{stream.option}"
        end
      end

      # A file that cannot be written now leaves the server with the one it has.
      def open_again
        reopen { |stream, error| Log.tell("log file #{stream.path} cannot be opened again: #{Reason.of(error)}") }
      end

      private

      def reopen
        @streams.each do |stream|
          replace(stream) if stream.path
          stream.io.sync = true unless stream.io.closed? # by the application: others write to its number
        rescue SystemCallError, IOError => e
          yield stream, e
        end
      end

      def replace(stream)
        File.open(stream.path, FLAGS) { |file| Descriptor.replace(stream.number, file.fileno) }
      end
    end
  end
end
