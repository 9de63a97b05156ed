# backtick_javascript: true
# frozen_string_literal: true

require "upwell/runtime/node/pieces"

module Upwell
  module Runtime
    class Node
      # How requests are answered. The client is a ServerResponse.
      module Answers
        include Pieces

        %x{
          const http = require("http");
          const statusLine = status => "HTTP/1.1 " + status + " " + (http.STATUS_CODES[status] || "unknown") + "\r\n";
          let date, changes = 0;

          const dateLine = () => {
            const now = Date.now();

            if (now >= changes || now < changes - 1000) { // clocks are set back, too
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
            #{end_with(res, data)};
          }
        end

        # @param length [Integer, nil] what is told of the content that there would be
        # @return [void]
        def answer_without_content(res, head, length)
          write_head(res, head, length)
          end_with(res, `undefined`)
        end

        # Ends the connection, so that the client does not take what it has for the whole: once it has the responses before this one. By HTTP/1.0
        # the end may be that of the content, unless the connection is reset, which also takes what is on its way.
        #
        # @return [void]
        def abort(res)
          %x{
            const socket = res.req.socket, now = socket._httpMessage;

            if (now && now !== res) res.destroy();
            else if (res.req.httpVersionMinor > 0) socket.destroy();
            else {
              try { socket.resetAndDestroy(); } catch (error) { socket.destroy(); } // only TCP itself has a reset
            }
          }
        end

        # A response that waits for those before it has no socket yet, but its request has.
        #
        # @return [Boolean] whether the client has left
        def gone?(res)
          `res.destroyed || res.req.socket.destroyed`
        end

        private

        def end_with(res, data)
          %x{
            res.end(data);
            if (res.writableLength > 0) #{bound(res)};
          }
        end

        # The client must take what is sent, until Node sets the time for which a connection is kept.
        def bound(res)
          `res.socket === null ? res.once("socket", socket => socket.setTimeout(self.write_ms)) : res.socket.setTimeout(self.write_ms)`
        end

        # Node tells a response that waits for those before it nothing of the connection's end.
        def end_with_connection(res)
          %x{
            if (res.socket !== null) return;
            const socket = res.req.socket, end = () => {
              res.destroyed = true;
              res.emit("close");
            };

            socket.once("close", end);
            res.once("socket", () => socket.off("close", end));
          }
        end

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
