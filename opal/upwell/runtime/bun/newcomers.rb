# backtick_javascript: true
# frozen_string_literal: true

require "upwell/runtime/bun/socket_table"

module Upwell
  module Runtime
    class Bun
      # Linux may be told to drop who comes to a socket that listens: once the others are accepted nobody waits any more, and it
      # can be closed. Who was dropped is refused when it tries again, a second later.
      module Newcomers
        SOL_SOCKET = 1
        SO_ATTACH_FILTER = 26
        # A program for the kernel's packet filter, an instruction a line: SYN, without ACK, has 0 bytes taken, others all.
        DROP = [[0x30, 13], # load the byte of TCP's flags
                [0x54, 0x12], # SYN and ACK of them
                [0x01000015, 0x02], # other than SYN alone: skip one
                [0x06, 0],
                [0x06, 0xffffffff]].flatten.freeze
        LIBRARIES = ["libc.so.6", "libc.so"].freeze

        # @param port [Integer]
        # @return [void]
        def self.drop(port)
          %x{
            const { dlopen, ptr } = require("bun:ffi");
            const setsockopt = { args: ["i32", "i32", "i32", "ptr", "u32"], returns: "i32" };
            const filter = new Uint32Array(#{DROP}), option = new BigUint64Array([BigInt(filter.length / 2), BigInt(ptr(filter))]);

            for (const name of #{LIBRARIES}) {
              try {
                const library = dlopen(name, { setsockopt });

                for (const number of #{SocketTable.listening(port)})
                  library.symbols.setsockopt(number, #{SOL_SOCKET}, #{SO_ATTACH_FILTER}, ptr(option), option.byteLength);
                return nil;
              } catch (error) {}
            }
            return nil;
          }
        end
      end
    end
  end
end
