# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  # A queue of bytes in pieces of any size. Small pieces are copied together, since each needs much more memory than its bytes.
  class ByteQueue
    `const BLOCK = 65536, SMALL = BLOCK / 2` # bytes
    `const bytesOf = block => block.room.subarray(block.begin, block.end)`

    # @return [Integer] bytes
    attr_reader :size

    def initialize
      @blocks = `[]` # each has a buffer, in which the bytes from begin to end are valid
      @size = 0
    end

    # @return [Boolean]
    def empty?
      `self.size === 0`
    end

    # Adds bytes.
    #
    # @param bytes [JavaScript Uint8Array] must not change afterwards
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

    # Removes the first bytes.
    #
    # @param bytes_max [Integer]
    # @return [JavaScript Uint8Array] at least one byte, unless the queue is empty
    def take(bytes_max)
      %x{
        const block = self.blocks[0], begin = block.begin;

        block.begin = Math.min(begin + bytes_max, block.end);
        if (block.begin === block.end) self.blocks.shift();
        self.size -= block.begin - begin;
        return block.room.subarray(begin, block.begin);
      }
    end

    # @return [JavaScript Buffer] all bytes
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
