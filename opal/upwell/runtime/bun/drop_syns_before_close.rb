# backtick_javascript: true
# frozen_string_literal: true

require "upwell/drop_syns_before_close"

module Upwell
  module Runtime
    class Bun
      # Drops new clients. Bun can make the system call itself.
      module DropSynsBeforeClose
        LIBRARIES = ["libc.so.6", "libc.so"].freeze

        # @param numbers [JavaScript Array] of descriptors
        # @return [Boolean] whether new clients are dropped from now on
        def self.drop(numbers)
          LIBRARIES.any? { |library| attach(library, numbers) }
        end

        def self.attach(library, numbers)
          program = Upwell::DropSynsBeforeClose::DROP
          level = Upwell::DropSynsBeforeClose::SOL_SOCKET
          option = Upwell::DropSynsBeforeClose::SO_ATTACH_FILTER
          %x{
            try {
              const { dlopen, ptr } = require("bun:ffi"), filter = new Uint32Array(program);
              const value = new BigUint64Array([BigInt(filter.length / 2), BigInt(ptr(filter))]);
              const { symbols } = dlopen(library, { setsockopt: { args: ["i32", "i32", "i32", "ptr", "u32"], returns: "i32" } });

              return numbers.every(number => symbols.setsockopt(number, level, option, ptr(value), value.byteLength) === 0);
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
