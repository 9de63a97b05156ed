// node cable.js URL ROOMS MESSAGES: three Action Cable clients a room. Each speaks, and hears all of its own room and nothing else.
"use strict";
const WebSocket = require("ws");
const [url, rooms, messages] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const MEMBERS = 3;
let open = rooms * MEMBERS;

const fail = (why) => { console.error(why); process.exit(1); };

const join = (room, members, marker) => {
  const socket = new WebSocket(`${url}?m=${marker}`, ["actioncable-v1-json"]);
  const identifier = JSON.stringify({ channel: "RoomChannel", room });
  const command = (fields) => socket.send(JSON.stringify({ identifier, ...fields }));
  const say = (number) => command({ command: "message", data: JSON.stringify({ action: "say", text: `${room} ${marker} ${number}` }) });
  const heard = new Set();

  const hear = ({ from, text }) => {
    const [where, who] = text.split(" ");
    if (where !== `${room}` || who !== from || heard.has(text)) fail(`${marker} in ${room} heard ${text} from ${from}`);
    heard.add(text);
    if (heard.size === MEMBERS * messages) socket.close(1000);
  };

  socket.on("message", (data) => {
    const event = JSON.parse(data);
    if (event.type === "welcome") command({ command: "subscribe" });
    else if (event.type === "confirm_subscription") members.ready(() => { for (let i = 0; i < messages; i++) say(i); });
    else if (event.type === "disconnect" || event.type === "reject_subscription") fail(`${marker}: ${data}`);
    else if (event.message) hear(event.message);
  });
  socket.on("error", (error) => fail(`${marker}: ${error.message}`));
  socket.on("close", (code) => {
    if (heard.size !== MEMBERS * messages) fail(`${marker} was closed with ${code} after ${heard.size} messages`);
    if (--open === 0) console.log(`${rooms * MEMBERS * MEMBERS * messages} messages`);
  });
};

for (let room = 0; room < rooms; room++) {
  const waiting = [];
  const members = { ready: (speak) => { if (waiting.push(speak) === MEMBERS) waiting.forEach((each) => each()); } };
  for (let member = 0; member < MEMBERS; member++) join(room, members, `m${room}-${member}`);
}
