// Node's own HTTP server: node node.js PORT
"use strict";

const http = require("node:http");

const server = http.createServer((_request, response) => {
  response.writeHead(200, { "content-type": "text/plain", "content-length": 13 });
  response.end("Hello, world!");
});
server.listen({ port: Number(process.argv[2]), host: "127.0.0.1", backlog: 4096 });
