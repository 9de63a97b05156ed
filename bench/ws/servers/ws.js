// Node's `ws`: node ws.js PORT [deflate]
"use strict";

const http = require("node:http");
const { WebSocketServer, WebSocket } = require("ws");

const [port, extension] = process.argv.slice(2);
const perMessageDeflate = extension === "deflate" && {
  serverNoContextTakeover: true, clientNoContextTakeover: true, threshold: 128,
};
const eventStreams = new Set();
const server = http.createServer((request, response) => {
  if (request.url !== "/all") return response.end("Hello, world!");

  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  response.flushHeaders();
  eventStreams.add(response);
  response.on("close", () => eventStreams.delete(response));
});
const [echo, all, publish] = [0, 0, 0].map(() => new WebSocketServer({ noServer: true, perMessageDeflate }));
const paths = { "/echo": echo, "/all": all, "/publish": publish };

echo.on("connection", (client) => {
  client.on("message", (data, binary) => client.send(data, { binary }));
});
publish.on("connection", (client) => {
  client.on("message", (data, binary) => {
    for (const each of all.clients) {
      if (each.readyState === WebSocket.OPEN) each.send(data, { binary });
    }
    if (eventStreams.size === 0) return;

    const event = `data: ${data}\n\n`;
    for (const each of eventStreams) each.write(event);
  });
});
server.on("upgrade", (request, socket, head) => {
  const chosen = paths[request.url];
  chosen.handleUpgrade(request, socket, head, (client) => chosen.emit("connection", client, request));
});
server.listen({ port: Number(port), host: "127.0.0.1", backlog: 4096 });
