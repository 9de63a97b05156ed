# backtick_javascript: true
# frozen_string_literal: true

require "upwell/newcomers"
require "upwell/socket_table"

module Upwell
  module Runtime
    class Bun
      # Bun calls the system by itself.
      module Newcomers
        LIBRARIES = ["libc.so.6", "libc.so"].freeze

        # @param port [Integer]
        # @return [void]
        def self.drop(port)
          %x{
            const { dlopen, ptr } = require("bun:ffi");
            const setsockopt = { args: ["i32", "i32", "i32", "ptr", "u32"], returns: "i32" };
            const filter = new Uint32Array(#{Upwell::Newcomers::DROP}), option = new BigUint64Array([BigInt(filter.length / 2), BigInt(ptr(filter))]);

            for (const name of #{LIBRARIES}) {
              try {
                const library = dlopen(name, { setsockopt });

                for (const number of #{SocketTable.listening(`[port]`)})
                  library.symbols.setsockopt(number, #{Upwell::Newcomers::SOL_SOCKET}, #{Upwell::Newcomers::SO_ATTACH_FILTER}, ptr(option), option.byteLength);
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
