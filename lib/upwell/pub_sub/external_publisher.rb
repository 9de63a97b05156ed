# frozen_string_literal: true

require "io/wait"
require "securerandom"
require "socket"
require_relative "../clock"
require_relative "../hide_password"

module Upwell
  module PubSub
    # A connection to the workers of a server on this machine, for other processes. It connects to the workers' sockets in the bus directory
    # (core/bus/bus_frame.h has the format). It can only publish.
    class ExternalPublisher
      NAMES = /\A\d{1,10}-\h{16}\.bus\z/
      START = "UB\x01".b # the last byte is the version
      TEXT = 1
      HELLO = 2 # the first frame, with the sender's name as channel
      HEAD = "a3CNN"
      MESSAGE_BYTES_MAX = 4 * 1024 * 1024
      PATIENCE = 1 # seconds for a worker to accept a message; after that its connection is closed

      # @param folder [String] the directory, which a server may create later
      # @raise [ArgumentError] for the URL of another service
      def initialize(folder)
        refuse(folder.to_s) if folder.to_s.match?(/\A\w+:/)

        @folder = File.expand_path(folder.to_s) # the process may change its working directory
        @process = Process.pid
        @workers = {}
        @lock = Mutex.new
      end

      # Publishes a message.
      #
      # @param channel [String] at most 1024 bytes
      # @param message [String] at most 4 MiB; BINARY means binary, any other encoding text
      # @return [Boolean] whether a worker has received the message
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

      # Closes all connections.
      #
      # @return [void]
      def close(_seconds = nil)
        @lock.synchronize { close_all }
      end

      private

      # A forked process needs its own connections: frames of two processes would mix.
      def refuse(address)
        raise ArgumentError, "the address must be #{Redis::Address::DESCRIPTION}, or a directory, not #{HidePassword.hide(address)}"
      end

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
        names = Dir.children(@folder).select { |name| NAMES.match?(name.b) } # matched as bytes, since names of other files may be invalid text
        (names - @workers.keys).each { |name| connect(name) }
      rescue SystemCallError
        nil # the server has not created the directory yet
      end

      # A dead worker leaves its socket file behind. A path may be too long for a socket address (ArgumentError).
      def connect(name)
        send_to(name, UNIXSocket.new(File.join(@folder, name)), frame(HELLO, format("%d-%s.bus", Process.pid, SecureRandom.hex(8)), ""))
      rescue SystemCallError, ArgumentError
        nil
      end

      # Sends a frame. After an incomplete frame (a time-out, for example) the connection is closed: the next frame would be read as the rest.
      #
      # @return [Boolean] whether the frame was sent completely
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
