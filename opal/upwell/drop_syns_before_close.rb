# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  # Makes Linux drop new clients of a listening socket. Once the queued clients are accepted, the queue is empty and the socket can be closed.
  # A dropped client tries again a second later and is refused.
  module DropSynsBeforeClose
    SOL_SOCKET = 1
    SO_ATTACH_FILTER = 26
    # A socket filter for SO_ATTACH_FILTER (see socket(7)), one instruction per line. It drops packets with SYN and without ACK.
    DROP = [[0x30, 13], # load the byte with the TCP flags
            [0x54, 0x12], # keep SYN and ACK
            [0x01000015, 0x02], # if not SYN alone, skip one instruction
            [0x06, 0],
            [0x06, 0xffffffff]].flatten.freeze

    # Node cannot make this system call. Ruby, which started the command, can: it inherits the sockets as descriptors from 3 on.
    SCRIPT = <<~RUBY.freeze
      count, *instructions = ARGV.map(&:to_i)
      program = instructions.pack("L*")
      option = [instructions.size / 2].pack("S").ljust([0].pack("J").bytesize, "\\0") + [program].pack("P")
      count.times { |i| BasicSocket.for_fd(3 + i).setsockopt(#{SOL_SOCKET}, #{SO_ATTACH_FILTER}, option) }
    RUBY
    QUICK = ["--disable=gems,rubyopt", "-rsocket", "-e", SCRIPT].freeze

    # Attaches the filter to sockets.
    #
    # @param numbers [JavaScript Array] of descriptors
    # @param milliseconds [Numeric] the time limit
    # @yieldparam dropped [Boolean] whether new clients are dropped from now on
    # @return [void]
    def self.drop(numbers, milliseconds, &told)
      %x{
        const settings = { stdio: ["ignore", "ignore", "ignore", ...numbers], timeout: #{milliseconds}, killSignal: "SIGKILL" };

        new Promise((resolve, reject) => {
          const ruby = process.env.UPWELL_RUBY || "ruby", words = [...#{QUICK}, numbers.length, ...#{DROP}].map(String);
          const child = require("child_process").spawn(ruby, words, settings).on("error", reject).on("exit", resolve);

          process.once("exit", () => child.kill("SIGKILL")); // it must not keep the sockets open
        }).then(status => #{told.call(`status === 0`)}, () => #{told.call(false)});
      }
    end
  end
end
