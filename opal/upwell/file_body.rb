# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  # A body that is a file, which the runtime sends piece by piece as the client takes it.
  module FileBody
    `const fs = require("fs")`

    # @param file [JavaScript Object] what {open} gave
    # @return [JavaScript Uint8Array] all of it
    def self.read(file)
      %x{
        try {
          return fs.readFileSync(file.fd);
        } finally {
          fs.closeSync(file.fd);
        }
      }
    end

    # @param path [String]
    # @param length [Integer, nil] what the head says
    # @return [JavaScript Object, nil] fd and size; nil where there is no such file, or it is not as long: `each` of the body shall tell
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
