// Bun's own HTTP server: bun bun.js PORT
"use strict";

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.argv[2]),
  fetch: () => new Response("Hello, world!", { headers: { "content-type": "text/plain" } }),
});
