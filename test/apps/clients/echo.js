// node echo.js URL CLIENTS MESSAGES: clients at the same time, each of which wants its own messages back, in order, small and large.
"use strict";
const WebSocket = require("ws");
const [url, clients, messages] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
let open = clients;

const fail = (why) => { console.error(why); process.exit(1); };

for (let c = 0; c < clients; c++) {
  const socket = new WebSocket(url);
  const text = (i) => `client ${c} message ${i} ` + "x".repeat(i % 7 === 0 ? 70000 : 10);
  let answered = 0;
  socket.on("open", () => socket.send(text(0)));
  socket.on("message", (data) => {
    if (data.toString() !== text(answered)) fail(`client ${c}: not ${answered} but ${data.toString().slice(0, 60)}`);
    answered++;
    answered < messages ? socket.send(text(answered)) : socket.close(1000);
  });
  socket.on("error", (error) => fail(`client ${c}: ${error.message}`));
  socket.on("close", (code) => {
    if (answered !== messages || code !== 1000) fail(`client ${c} was closed with ${code} after ${answered} messages`);
    if (--open === 0) console.log(`${clients * messages} messages`);
  });
}
