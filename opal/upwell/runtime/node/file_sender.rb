# backtick_javascript: true
# frozen_string_literal: true

require "upwell/file_body"

module Upwell
  module Runtime
    class Node
      # Sends files. The client is a ServerResponse.
      module FileSender
        `const fs = require("fs"), stream = require("stream")`

        # @param path [String]
        # @return [Boolean] false when the file is missing, or has another length than the head says
        def answer_file(res, head, path)
          file = FileBody.open(path, head.length)
          return false unless file

          write_file_head(res, head, file)
          send_file(res, file)
          true
        end

        private

        def write_file_head(res, head, file)
          %x{
            try {
              #{write_head(res, head, `file.size`)};
            } catch (error) {
              fs.closeSync(file.fd);
              throw error;
            }
          }
        end

        # If the file becomes shorter, the connection is closed: the client must not take the next response for the rest.
        def send_file(res, file)
          @server.hold
          bound(res)
          end_with_connection(res)
          %x{
            const content = fs.createReadStream(null, { fd: file.fd, end: file.size - 1 });

            content.once("end", () => { if (content.bytesRead < file.size) #{abort(res)}; });
            stream.pipeline(content, res, () => #{@server.release});
          }
        end
      end
    end
  end
end
