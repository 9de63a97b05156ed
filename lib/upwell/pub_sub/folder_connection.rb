# frozen_string_literal: true

require "io/wait"
require "securerandom"
require "socket"
require_relative "../clock"

module Upwell
  module PubSub
    # Another process's connection to the workers of a server on this machine, by the folder in which these listen (core/push/bus_frame.h has the
    # format). It publishes only.
    class FolderConnection
      NAMES = /\A\d{1,10}-\h{16}\.bus\z/
      START = "UB\x01".b # and the version
      TEXT = 1
      HELLO = 2 # the first frame: its channel is who sends
      HEAD = "a3CNN"
      MESSAGE_BYTES_MAX = 4 * 1024 * 1024
      PATIENCE = 1 # seconds for a worker to take a message; then it is left

      # @param folder [String] a server may make it later
      # @raise [ArgumentError] when it is the URL of something else
      def initialize(folder)
        raise ArgumentError, "must be #{Redis::Address::DESCRIPTION}, or a folder" if folder.to_s.match?(/\A\w+:/)

        @folder = File.expand_path(folder.to_s) # the process may go to another
        @process = Process.pid
        @workers = {}
        @lock = Mutex.new
      end

      # @param channel [String]
      # @param message [String] BINARY: binary, else text
      # @return [Boolean] whether a worker has it; of what is too long (a channel of 1024 bytes, a message of 4 MiB at most) none has
      def publish(channel, message)
        channel = channel.to_s
        message = message.to_s
        return false if channel.bytesize > CHANNEL_BYTES_MAX || message.bytesize > MESSAGE_BYTES_MAX

        frame = frame(text?(message) ? TEXT : 0, channel, message)
        @lock.synchronize do
          begin_anew unless @process == Process.pid
          look
          @workers.to_a.map { |name, socket| send_to(name, socket, frame) }.any?
        end
      end

      # @return [void]
      def close(_seconds = nil)
        @lock.synchronize { close_all }
      end

      private

      # In a forked process: what two wrote to a connection would be mixed.
      def begin_anew
        close_all
        @process = Process.pid
      end

      def close_all
        @workers.shift.last.close until @workers.empty?
      end

      def text?(message)
        message.encoding != Encoding::BINARY && message.dup.force_encoding(Encoding::UTF_8).valid_encoding?
      end

      def frame(flags, channel, message)
        [START, flags, channel.bytesize, message.bytesize].pack(HEAD) << channel.b << message.b
      end

      def look
        names = Dir.children(@folder).select { |name| NAMES.match?(name.b) } # bytes: names of others need not be text
        (names - @workers.keys).each { |name| connect(name) }
      rescue SystemCallError
        nil # no server has made it yet
      end

      # A dead worker leaves its socket behind. A path may be too long for one (ArgumentError).
      def connect(name)
        send_to(name, UNIXSocket.new(File.join(@folder, name)), frame(HELLO, format("%d-%s.bus", Process.pid, SecureRandom.hex(8)), ""))
      rescue SystemCallError, ArgumentError
        nil
      end

      # One that has not got a whole frame, whatever came between, by Timeout for one, cannot have another: it would be taken for the rest.
      #
      # @return [Boolean] whether it has
      def send_to(name, socket, frame)
        @workers.delete(name)
        whole = write(socket, frame)
      ensure
        whole ? @workers[name] = socket : socket.close
      end

      def write(socket, frame)
        deadline = Clock.now + PATIENCE
        until frame.empty?
          written = socket.write_nonblock(frame, exception: false)
          next frame = frame.byteslice(written..) if written.is_a?(Integer)
          return false unless socket.wait_writable([deadline - Clock.now, 0].max)
        end
        true
      rescue SystemCallError
        false
      end
    end
  end
end
