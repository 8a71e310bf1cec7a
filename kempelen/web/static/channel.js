// The page's side of a channel: a WebSocket with JSON objects that reconnects automatically.

import { words } from "./site.js";

const MIN_DELAY_MS = 250;
const MAX_DELAY_MS = 5000;
const CLOSE_REJECTED = 4403;
const CLOSE_RETRY = 4408;

/**
 * Open a channel. onMessage receives each object. After a reconnection, the first object is the
 * full state. Returns send(object), which queues objects while disconnected, and close().
 */
export function channel(path, onMessage) {
  const notice = document.getElementById("connection");
  const queue = [];
  let socket;
  let delay = MIN_DELAY_MS;
  let closed = false;
  let say = (key) => key;
  words("site").then((loaded) => { say = loaded; });

  function open() {
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    socket = new WebSocket(`${scheme}//${location.host}${path}`);
    socket.onopen = () => {
      while (queue.length) socket.send(queue.shift());
    };
    socket.onmessage = (event) => {
      delay = MIN_DELAY_MS;
      notice.textContent = "";
      onMessage(JSON.parse(event.data));
    };
    socket.onclose = (event) => {
      if (closed) return;
      if (event.code === CLOSE_REJECTED) {
        notice.textContent = say(event.reason);
        return;
      }
      // Show the server's reason, if it sent one.
      notice.textContent = say(event.code === CLOSE_RETRY ? event.reason : "connection lost");
      setTimeout(open, delay);
      delay = Math.min(delay * 2, MAX_DELAY_MS);
    };
  }

  open();
  return {
    send(message) {
      const text = JSON.stringify(message);
      if (socket.readyState === WebSocket.OPEN) socket.send(text);
      else queue.push(text);
    },
    close() {
      closed = true;
      socket.close();
    },
  };
}
