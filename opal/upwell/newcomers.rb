# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  # Linux may be told to drop who comes to a socket that listens: once the others are accepted nobody waits any more, and it can be closed.
  # Who was dropped is refused when it tries again, a second later.
  module Newcomers
    SOL_SOCKET = 1
    SO_ATTACH_FILTER = 26
    # A program for the kernel's packet filter, an instruction a line: SYN, without ACK, has 0 bytes taken, others all.
    DROP = [[0x30, 13], # load the byte of TCP's flags
            [0x54, 0x12], # SYN and ACK of them
            [0x01000015, 0x02], # other than SYN alone: skip one
            [0x06, 0],
            [0x06, 0xffffffff]].flatten.freeze

    # Node cannot call the system for that. Ruby, which started the command, can, with the sockets for its descriptors from 3 on.
    SCRIPT = <<~RUBY.freeze
      count, *instructions = ARGV.map(&:to_i)
      program = instructions.pack("L*")
      option = [instructions.size / 2].pack("S").ljust([0].pack("J").bytesize, "\\0") + [program].pack("P")
      count.times { |i| BasicSocket.for_fd(3 + i).setsockopt(#{SOL_SOCKET}, #{SO_ATTACH_FILTER}, option) }
    RUBY
    QUICK = ["--disable=gems,rubyopt", "-rsocket", "-e", SCRIPT].freeze

    # @param numbers [JavaScript Array] of descriptors
    # @param milliseconds [Numeric] that it may take
    # @yieldparam dropped [Boolean] whether they will be from now on
    # @return [void]
    def self.drop(numbers, milliseconds, &told)
      %x{
        const settings = { stdio: ["ignore", "ignore", "ignore", ...numbers], timeout: #{milliseconds}, killSignal: "SIGKILL" };

        new Promise((resolve, reject) => {
          const ruby = process.env.UPWELL_RUBY || "ruby", words = [...#{QUICK}, numbers.length, ...#{DROP}].map(String);
          const child = require("child_process").spawn(ruby, words, settings).on("error", reject).on("exit", resolve);

          process.once("exit", () => child.kill("SIGKILL")); // it must not hold the sockets
        }).then(status => #{told.call(`status === 0`)}, () => #{told.call(false)});
      }
    end
  end
end
