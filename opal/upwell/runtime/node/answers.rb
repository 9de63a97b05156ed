# backtick_javascript: true
# frozen_string_literal: true

require "upwell/file_body"

module Upwell
  module Runtime
    class Node
      # How requests are answered. The client is a ServerResponse.
      module Answers
        %x{
          const MUCH = 16384; // bytes, which the kernel may not take at once
          const fs = require("fs"), http = require("http"), stream = require("stream");
          const statusLine = status => "HTTP/1.1 " + status + " " + (http.STATUS_CODES[status] || "unknown") + "\r\n";
          let date, changes = 0;

          const dateLine = () => {
            const now = Date.now();

            if (now >= changes) {
              date = "Date: " + new Date(now).toUTCString() + "\r\n";
              changes = now - now % 1000 + 1000;
            }
            return date;
          };
        }

        # @param res [JavaScript ServerResponse]
        # @param head [Head]
        # @param data [JavaScript String, JavaScript Uint8Array] all of the content
        # @return [void]
        def answer(res, head, data)
          %x{
            if (typeof data === "string" && head.beyond_ascii) data = Buffer.from(data); // with text the head would leave as UTF-8, too
            const length = typeof data === "string" ? Buffer.byteLength(data) : data.length;

            if (self.draining || head.close || !res.shouldKeepAlive) #{write_head(res, head, `length`)};
            else #{write_usual_head(res, head, `length`)};
            res.end(data);
            if (length > MUCH && res.writableLength > 0 && res.socket) res.socket.setTimeout(self.write_ms);
          }
        end

        # @param length [Integer, nil] what is told of the content that there would be
        # @return [void]
        def answer_without_content(res, head, length)
          write_head(res, head, length)
          `res.end()`
        end

        # @param path [String]
        # @return [Boolean] whether it is sent: not where it is no file, or not as long as the head says
        def answer_file(res, head, path)
          file = FileBody.open(path, head.length)
          return false unless file

          write_head(res, head, `file.size`)
          @server.hold
          %x{
            const content = fs.createReadStream(null, { fd: file.fd, end: file.size - 1 });

            if (res.socket) res.socket.setTimeout(self.write_ms);
            stream.pipeline(content, res, () => {
              if (content.bytesRead < file.size) #{abort(res)};
              #{@server.release};
            });
          }
          true
        end

        # @param head [Head] after which pieces follow
        # @return [void]
        def begin(res, head)
          write_head(res, head, head.length)
          `res.flushHeaders()`
        end

        # @return [void]
        def write(res, data)
          `res.write(data)`
        end

        # @return [void]
        def finish(res)
          `res.end()`
        end

        # Ends the connection, so that the client does not take what it has for the whole.
        #
        # @return [void]
        def abort(res)
          `res.socket?.resetAndDestroy()`
        end

        # @return [Boolean] whether the client has left
        def gone?(res)
          `res.destroyed || res.socket === null || res.socket.destroyed`
        end

        # @return [Integer] bytes that the client has not taken
        def behind(res)
          `res.writableLength`
        end

        private

        # What Node would write, which looks at each field again, and for what may follow.
        def write_usual_head(res, head, length)
          %x{
            const text = #{@heads.made_of(`head.fields`)};

            res.statusCode = head.status;
            res._header = statusLine(head.status) + text.fields + (text.dated ? "" : dateLine()) + "content-length: " + length + self.kept;
          }
        end

        def head_text(fields)
          %x{
            let text = "", dated = false;

            for (let i = 0; i < fields.length; i += 2) {
              text += fields[i] + ": " + fields[i + 1] + "\r\n";
              if (fields[i].length === 4 && fields[i].toLowerCase() === "date") dated = true;
            }
            return { fields: text, dated };
          }
        end

        def write_head(res, head, length)
          %x{
            if (length !== nil) head.fields.push("content-length", "" + length);
            if (self.draining || head.close) res.shouldKeepAlive = false;
            res.writeHead(head.status, head.fields);
          }
        end
      end
    end
  end
end
