# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  # The sockets on TCP ports of this machine, as Linux tells of them. On other systems there are none.
  module SocketTable
    `const fs = require("fs"), LISTENS = "0A", SHAKES_HANDS = "03"`

    %x{
      const BYTES = 65536, OTHERS = /^ *\d+: \S+ \S+ (?!0A)/m;
      const read = name => { try { return fs.readFileSync("/proc/self/net/" + name, "latin1"); } catch (error) { return ""; } };

      // Those that listen come first; of the others there may be very many.
      const read_listening = name => {
        try {
          const file = fs.openSync("/proc/self/net/" + name), pieces = [];

          try {
            do {
              const bytes = Buffer.alloc(BYTES);

              pieces.push(bytes.latin1Slice(0, fs.readSync(file, bytes)));
            } while (pieces.at(-1) !== "" && !OTHERS.test(pieces.at(-1)));
          } finally {
            fs.closeSync(file);
          }
          return pieces.join("");
        } catch (error) {
          return "";
        }
      };
      const target = number => { try { return fs.readlinkSync("/proc/self/fd/" + number); } catch (error) { return ""; } };

      // The fields of those on the ports that are in that state.
      const rows = (ports, state) => {
        const ends = ports.map(port => ":" + port.toString(16).toUpperCase().padStart(4, "0"));
        const texts = ["tcp", "tcp6"].map(state === LISTENS ? read_listening : read);
        const lines = texts.flatMap(text => text.split("\n")).filter(line => ends.some(end => line.includes(end)));

        return lines.map(line => line.trim().split(/\s+/, 10)).filter(row => row[3] === state && ends.some(end => row[1].endsWith(end)));
      };
      const name = row => "socket:[" + row[9] + "]";
    }

    # @param ports [JavaScript Array]
    # @return [JavaScript Array] of this process's descriptors, that listen there
    def self.listening(ports)
      %x{
        const own = rows(ports, LISTENS).map(name);

        return own.length === 0 ? [] : fs.readdirSync("/proc/self/fd").filter(number => own.includes(target(number))).map(Number);
      }
    end

    # @param ports [JavaScript Array]
    # @param numbers [JavaScript Array] of descriptors that listen there
    # @return [Boolean] whether anybody waits to be accepted by them
    def self.queue?(ports, numbers)
      %x{
        const own = numbers.map(target);

        return rows(ports, LISTENS).some(row => own.includes(name(row)) && !row[4].endsWith(":00000000"));
      }
    end

    # @param ports [JavaScript Array]
    # @return [Boolean] whether anybody is about to wait: some believe to be connected, of whom the kernel has yet to hear
    def self.handshakes?(ports)
      `rows(ports, SHAKES_HANDS).length > 0`
    end
  end
end
