# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  # The sockets on TCP ports of this machine, as Linux tells of them. On other systems there are none.
  module SocketTable
    `const fs = require("fs"), LISTENS = "0A", ASKS = "03"`

    %x{
      const read = name => { try { return fs.readFileSync("/proc/self/net/" + name, "latin1"); } catch (error) { return ""; } };
      const target = number => { try { return fs.readlinkSync("/proc/self/fd/" + number); } catch (error) { return ""; } };
      const ending = port => ":" + port.toString(16).toUpperCase().padStart(4, "0");
    }

    # @param ports [JavaScript Array]
    # @return [JavaScript Array] of this process's descriptors, that listen there
    def self.listening(ports)
      %x{
        const sockets = new Set(#{rows(ports, `LISTENS`)}.map(fields => "socket:[" + fields[9] + "]"));

        return sockets.size === 0 ? [] : fs.readdirSync("/proc/self/fd").filter(number => sockets.has(target(number))).map(Number);
      }
    end

    # @return [Boolean] whether somebody has begun to connect, and is not connected
    def self.asked?(ports)
      `#{rows(ports, `ASKS`)}.length > 0`
    end

    # @return [JavaScript Array] the fields of each socket in that state
    def self.rows(ports, state)
      %x{
        const ends = ports.map(ending);

        return ["tcp", "tcp6"].flatMap(name => read(name).split("\n")).map(line => line.trim().split(/\s+/, 10))
          .filter(fields => fields[3] === state && ends.some(end => fields[1].endsWith(end)));
      }
    end
    private_class_method :rows
  end
end
