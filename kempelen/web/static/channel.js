// The page's end of a channel: objects of JSON over a WebSocket that comes again after a break.

import { words } from "./site.js";

const SOONEST = 250;
const LATEST = 5000;
const REFUSED = 4403;
const AGAIN = 4408;

/**
 * Open a channel. heard: takes each object that comes; after a break the first one says again how
 * everything stands. Returns an object with send(object), which waits for the server, and close().
 */
export function channel(path, heard) {
  const notice = document.getElementById("connection");
  const waiting = [];
  let socket;
  let wait = SOONEST;
  let closed = false;
  let say = (key) => key;
  words("site").then((found) => { say = found; });

  function open() {
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    socket = new WebSocket(`${scheme}//${location.host}${path}`);
    socket.onopen = () => {
      while (waiting.length) socket.send(waiting.shift());
    };
    socket.onmessage = (event) => {
      wait = SOONEST;
      notice.textContent = "";
      heard(JSON.parse(event.data));
    };
    socket.onclose = (event) => {
      if (closed) return;
      if (event.code === REFUSED) {
        notice.textContent = say(event.reason);
        return;
      }
      // The server's reason, if it gave one, or else that it cannot be reached.
      notice.textContent = say(event.code === AGAIN ? event.reason : "connection lost");
      setTimeout(open, wait);
      wait = Math.min(wait * 2, LATEST);
    };
  }

  open();
  return {
    send(message) {
      const text = JSON.stringify(message);
      if (socket.readyState === WebSocket.OPEN) socket.send(text);
      else waiting.push(text);
    },
    close() {
      closed = true;
      socket.close();
    },
  };
}
