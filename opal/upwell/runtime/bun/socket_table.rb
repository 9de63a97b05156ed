# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  module Runtime
    class Bun
      # The sockets on TCP ports of this machine, as Linux tells of them. On other systems there are none.
      module SocketTable
        `const fs = require("fs"), LISTENS = "0A"`

        %x{
          const read = name => { try { return fs.readFileSync("/proc/self/net/" + name, "latin1"); } catch (error) { return ""; } };
          const target = number => { try { return fs.readlinkSync("/proc/self/fd/" + number); } catch (error) { return ""; } };
        }

        # @param port [Integer]
        # @return [JavaScript Array] of this process's descriptors, that listen there
        def self.listening(port)
          %x{
            const end = ":" + port.toString(16).toUpperCase().padStart(4, "0");
            const rows = ["tcp", "tcp6"].flatMap(name => read(name).split("\n")).map(line => line.trim().split(/\s+/, 10));
            const own = rows.filter(fields => fields[3] === LISTENS && fields[1].endsWith(end)).map(fields => "socket:[" + fields[9] + "]");

            return own.length === 0 ? [] : fs.readdirSync("/proc/self/fd").filter(number => own.includes(target(number))).map(Number);
          }
        end
      end
    end
  end
end
