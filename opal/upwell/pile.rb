# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  # Bytes that come in pieces of any size. Small ones are copied together: each takes far more room than its bytes.
  class Pile
    `const BLOCK = 65536, SMALL = BLOCK / 2` # bytes
    `const bytesOf = block => block.room.subarray(block.begin, block.end)`

    # @return [Integer] bytes
    attr_reader :size

    def initialize
      @blocks = `[]` # each with room, of which the bytes from begin to end count
      @size = 0
    end

    # @return [Boolean]
    def empty?
      `self.size === 0`
    end

    # @param bytes [JavaScript Uint8Array] which stays as it is
    # @return [void]
    def add(bytes)
      %x{
        const blocks = self.blocks, last = blocks[blocks.length - 1];

        self.size += bytes.length;
        if (last !== undefined && last.room.length - last.end >= bytes.length) {
          last.room.set(bytes, last.end);
          last.end += bytes.length;
        }
        else if (last === undefined || bytes.length > SMALL) blocks.push({ room: bytes, begin: 0, end: bytes.length });
        else #{open_block(bytes)};
      }
    end

    # Takes the first of them away.
    #
    # @param bytes_max [Integer]
    # @return [JavaScript Uint8Array] at least a byte, where there are any
    def take(bytes_max)
      %x{
        const block = self.blocks[0], begin = block.begin;

        block.begin = Math.min(begin + bytes_max, block.end);
        if (block.begin === block.end) self.blocks.shift();
        self.size -= block.begin - begin;
        return block.room.subarray(begin, block.begin);
      }
    end

    # @return [JavaScript Buffer] all of them
    def all
      `self.blocks.length === 1 ? bytesOf(self.blocks[0]) : Buffer.concat(self.blocks.map(bytesOf))`
    end

    private

    def open_block(bytes)
      %x{
        const room = Buffer.allocUnsafe(BLOCK);

        room.set(bytes);
        self.blocks.push({ room, begin: 0, end: bytes.length });
      }
    end
  end
end
