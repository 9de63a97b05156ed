# backtick_javascript: true
# frozen_string_literal: true

require "upwell/runtime/node/response_streaming"

module Upwell
  module Runtime
    class Node
      # Sends responses. The client is a ServerResponse.
      module ResponseSender
        include ResponseStreaming

        %x{
          const http = require("http");
          const statusLine = status => "HTTP/1.1 " + status + " " + (http.STATUS_CODES[status] || "unknown") + "\r\n";
          let date, changes = 0;

          const dateLine = () => {
            const now = Date.now();

            if (now >= changes || now < changes - 1000) { // the clock may be set back
              date = "Date: " + new Date(now).toUTCString() + "\r\n";
              changes = now - now % 1000 + 1000;
            }
            return date;
          };
        }

        # @param res [JavaScript ServerResponse]
        # @param head [ResponseHead]
        # @param data [JavaScript String, JavaScript Uint8Array] the whole content
        # @return [void]
        def answer(res, head, data)
          %x{
            const text = typeof data === "string", length = text ? Buffer.byteLength(data) : data.length;

            if (self.draining || head.close || !res.shouldKeepAlive) #{write_head(res, head, `length`)};
            else #{write_usual_head(res, head, `length`)};
            if (text && data.length === length && res._hasBody) #{end_in_one_piece(res, data)};
            else #{end_with(res, `text && head.beyond_ascii ? Buffer.from(data) : data`)}; // else Node would encode the head as UTF-8, too
          }
        end

        # @param length [Integer, nil] the length that the content would have
        # @return [void]
        def answer_without_content(res, head, length)
          write_head(res, head, length)
          end_with(res, `undefined`)
        end

        # Closes the connection after all earlier responses, so that the client does not take an incomplete response for complete. In HTTP/1.0 an
        # orderly close may end the content, so the connection is reset, which also discards data in transit.
        #
        # @return [void]
        def abort(res)
          %x{
            const socket = res.req.socket, now = socket._httpMessage;

            if (now && now !== res) res.destroy();
            else if (res.req.httpVersionMinor > 0) socket.destroy();
            else {
              try { socket.resetAndDestroy(); } catch (error) { socket.destroy(); } // only plain TCP supports a reset
            }
          }
        end

        # A response that waits for earlier ones has no socket yet, but its request has.
        #
        # @return [Boolean] whether the client has disconnected
        def gone?(res)
          `res.destroyed || res.req.socket.destroyed`
        end

        private

        # Node makes two writes for a response, and joins them by writev. A head that ends with the content needs one write.
        def end_in_one_piece(res, ascii)
          `res._header += ascii`
          end_with(res, `undefined`)
        end

        def end_with(res, data)
          %x{
            res.end(data);
            if (res.writableLength > 0) #{bound(res)};
          }
        end

        # Sets a time-out for sending, until Node sets the keep-alive time-out.
        def bound(res)
          `res.socket === null ? res.once("socket", socket => socket.setTimeout(self.write_ms)) : res.socket.setTimeout(self.write_ms)`
        end

        # Node does not report the connection's end to a response that waits for earlier ones.
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

        # Writes Node's usual head. Node itself checks each field again, and prepares for content that may follow.
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
