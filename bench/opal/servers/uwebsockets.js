// uWebSockets.js as the npm package `uwebsockets` has it: node uwebsockets.js PORT
"use strict";

const app = require("uwebsockets").App();

app.any("/*", (response) => response.writeHeader("content-type", "text/plain").end("Hello, world!"));
app.listen("127.0.0.1", Number(process.argv[2]), (socket) => {
  if (!socket) process.exit(1);
});
