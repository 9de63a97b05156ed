# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  # A body that is a file. The runtime sends it in pieces, at the client's pace.
  module FileBody
    `const fs = require("fs")`

    # Reads a whole file, and closes it.
    #
    # @param file [JavaScript Object] the result of {open}
    # @return [JavaScript Uint8Array] the content
    def self.read(file)
      %x{
        try {
          return fs.readFileSync(file.fd);
        } finally {
          fs.closeSync(file.fd);
        }
      }
    end

    # Opens a file.
    #
    # @param path [String]
    # @param length [Integer, nil] the length in the head
    # @return [JavaScript Object, nil] fd and size; nil when the file is missing or has another length, so that `each` of the body is used
    def self.open(path, length)
      %x{
        let fd;

        try { fd = fs.openSync(path); } catch (error) { return nil; }
        const stat = fs.fstatSync(fd), size = stat.size;

        if (stat.isFile() && size > 0 && (length === nil || length === size)) return { fd, size };
        fs.closeSync(fd);
        return nil;
      }
    end
  end
end
