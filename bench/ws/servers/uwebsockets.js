// uWebSockets as the npm package `uwebsockets` has it: node uwebsockets.js PORT [deflate]
"use strict";

const uws = require("uwebsockets");

const [port, extension] = process.argv.slice(2);
const compression = extension === "deflate" ? uws.SHARED_COMPRESSOR : uws.DISABLED;
const common = { compression, idleTimeout: 120, maxPayloadLength: 1024 * 1024 };
const eventStreams = new Set();
const decoder = new TextDecoder();
const app = uws.App();

app.ws("/echo", {
  ...common,
  message: (client, data, binary) => client.send(data, binary, extension === "deflate"),
});
app.ws("/all", { ...common, open: (client) => client.subscribe("all") });
app.ws("/publish", {
  ...common,
  message: (client, data, binary) => {
    app.publish("all", data, binary);
    if (eventStreams.size === 0) return;

    const event = `data: ${decoder.decode(data)}\n\n`;
    for (const each of eventStreams) each.write(event);
  },
});
app.get("/all", (response) => {
  response.writeStatus("200 OK").writeHeader("content-type", "text/event-stream").write(":\n\n");
  eventStreams.add(response);
  response.onAborted(() => eventStreams.delete(response));
});
app.any("/*", (response) => response.end("Hello, world!"));
app.listen("127.0.0.1", Number(port), (socket) => {
  if (!socket) process.exit(1);
});
