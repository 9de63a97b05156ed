# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  # The TCP sockets of this machine, from Linux's /proc. The table is empty on other systems.
  module ProcNetTcp
    `const fs = require("fs"), LISTENS = "0A", SHAKES_HANDS = "03"`

    %x{
      const BYTES = 65536, OTHERS = /^ *\d+: \S+ \S+ (?!0A)/m;
      const read = name => { try { return fs.readFileSync("/proc/self/net/" + name, "latin1"); } catch (error) { return ""; } };

      // Listening sockets come first; the rest of the table may be very long.
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

      // Finds the rows with one of the ports and this state.
      const rows = (ports, state) => {
        const ends = ports.map(port => ":" + port.toString(16).toUpperCase().padStart(4, "0"));
        const texts = ["tcp", "tcp6"].map(state === LISTENS ? read_listening : read);
        const lines = texts.flatMap(text => text.split("\n")).filter(line => ends.some(end => line.includes(end)));

        return lines.map(line => line.trim().split(/\s+/, 10)).filter(row => row[3] === state && ends.some(end => row[1].endsWith(end)));
      };
      const name = row => "socket:[" + row[9] + "]";
    }

    # Finds listening sockets.
    #
    # @param ports [JavaScript Array]
    # @return [JavaScript Array] this process's descriptors that listen on the ports
    def self.listening(ports)
      %x{
        const own = rows(ports, LISTENS).map(name);

        return own.length === 0 ? [] : fs.readdirSync("/proc/self/fd").filter(number => own.includes(target(number))).map(Number);
      }
    end

    # @param ports [JavaScript Array]
    # @param numbers [JavaScript Array] descriptors that listen on the ports
    # @return [Boolean] whether clients wait in their accept queues
    def self.queue?(ports, numbers)
      %x{
        const own = numbers.map(target);

        return rows(ports, LISTENS).some(row => own.includes(name(row)) && !row[4].endsWith(":00000000"));
      }
    end

    # @param ports [JavaScript Array]
    # @return [Boolean] whether handshakes are incomplete: such clients may believe that they are connected
    def self.handshakes?(ports)
      `rows(ports, SHAKES_HANDS).length > 0`
    end
  end
end
