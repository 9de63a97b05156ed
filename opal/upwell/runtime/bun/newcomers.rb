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
          numbers = SocketTable.listening(`[port]`)
          LIBRARIES.any? { |library| attach(library, numbers) }
        end

        def self.attach(library, numbers)
          program = Upwell::Newcomers::DROP
          level = Upwell::Newcomers::SOL_SOCKET
          option = Upwell::Newcomers::SO_ATTACH_FILTER
          %x{
            try {
              const { dlopen, ptr } = require("bun:ffi"), filter = new Uint32Array(program);
              const value = new BigUint64Array([BigInt(filter.length / 2), BigInt(ptr(filter))]);
              const { symbols } = dlopen(library, { setsockopt: { args: ["i32", "i32", "i32", "ptr", "u32"], returns: "i32" } });

              for (const number of numbers) symbols.setsockopt(number, level, option, ptr(value), value.byteLength);
              return true;
            } catch (error) {
              return false;
            }
          }
        end
        private_class_method :attach
      end
    end
  end
end
