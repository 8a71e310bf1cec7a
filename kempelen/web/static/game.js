// One game: board, clocks, list of moves, and actions.

import { ask, element } from "./site.js";
import { channel } from "./channel.js";
import { goBoard, squareBoard } from "./gridboard.js";

/** Show a game. Only the owner of the game may play. */
export async function showGame(main, id, say) {
  const holder = element("div", { class: "board" });
  const players = [element("p", { class: "player" }), element("p", { class: "player" })];
  const status = element("p", { class: "status", role: "status", "aria-live": "polite" });
  const trouble = element("p", { class: "error", role: "alert" });
  const list = element("ol", { class: "moves", "aria-label": say("moves"), tabindex: 0 });
  const input = element("input", { id: "move", type: "text", autocomplete: "off",
    autocapitalize: "off", spellcheck: "false", maxlength: 40 });
  const moveForm = element("form", { class: "by-text" },
    element("label", { for: "move" }, say("your move")), input,
    element("button", { type: "submit" }, say("play it")));
  const choice = element("div", { class: "choice" });
  const button = (key, press, kind = "") => element("button", { type: "button", class: kind,
    "data-action": key, onclick: press }, say(key));
  const actions = element("div", { class: "actions" },
    button("pass", () => play("pass")),
    button("take back", () => line.send({ do: "back" })),
    button("hint", () => line.send({ do: "hint" })),
    button("offer draw", () => line.send({ do: "draw" })),
    button("resign", resign),
    button("try again", () => line.send({ do: "again" })));
  const steps = element("div", { class: "steps", role: "group", "aria-label": say("replay") },
    ...[["first", "|◀"], ["previous", "◀"], ["next", "▶"], ["last", "▶|"]].map(([key, sign]) =>
      element("button", { type: "button", "aria-label": say(key), "data-step": key,
        onclick: () => step(key) }, sign)),
    element("a", { href: `/games/${id}/record` }, say("download")));
  const text = element("pre", { class: "position", tabindex: 0, "aria-label": say("position") });
  const table = element("div", { class: "table", hidden: true }, // until the game is known
    element("div", { class: "left" }, players[1], holder, text, players[0]),
    element("section", { class: "right", "aria-label": say("the game") },
      status, trouble, choice, moveForm, actions, steps, list));
  main.append(element("h1", { class: "hidden-words" }, say("title")), table);

  let state = null;
  let mine = false;
  let shown = null; // the displayed ply, null for the current one
  let hinted = null;
  let chess = null;
  let clockAt = 0;
  let announcedPly = -1;

  const line = channel(`/games/${id}/channel`, (message) => {
    if (message.kind === "welcome") mine = message.mine;
    if (message.kind === "error") trouble.textContent = say(message.text);
    if (message.kind === "refused draw") status.textContent = say("draw refused");
    if (message.kind === "hint") hint(message);
    if (message.kind === "game") {
      state = message;
      table.hidden = false;
      clockAt = performance.now();
      hinted = null;
      if (shown !== null && shown >= state.ply) shown = null;
      update();
    }
  });

  const myTurn = () => mine && !state.result && !state.thinking && shown === null
    && state.mover === state.side;
  const colour = (player) => player === state.white ? "white" : "black";
  // A visitor of a server without tokens has no name.
  const called = (player) => state.names[player] === "Visitor" ? say("Visitor") : state.names[player];

  function play(move) {
    if (!myTurn()) return;
    trouble.textContent = "";
    line.send({ do: "move", move, ply: state.ply });
  }

  function resign() {
    choice.replaceChildren(element("span", {}, say("resign?")),
      element("button", { type: "button", "data-answer": "yes", onclick: () => {
        choice.replaceChildren();
        line.send({ do: "resign" });
      } }, say("yes")),
      element("button", { type: "button", onclick: () => choice.replaceChildren() }, say("no")));
    choice.querySelector("button").focus();
  }

  /** Ask which piece a pawn promotes to. */
  function promotion(pieces) {
    return new Promise((resolve) => {
      choice.replaceChildren(element("span", {}, say("promotion")), ...pieces.map((piece) =>
        element("button", { type: "button", "data-piece": piece, onclick: () => {
          choice.replaceChildren();
          resolve(piece);
        } }, say(`piece ${piece}`))));
      choice.querySelector("button").focus();
    });
  }

  function hint(message) {
    if (message.ply !== state.ply) return;
    status.textContent = say("hint is", { move: message.text });
    if (chess) chess.hint(message.move);
    else if (state.board.kind === "go") {
      hinted = message.move;
      draw(state.board, myTurn());
    } else if (state.board.kind === "grid") {
      hinted = state.board.legal.find((each) => each.text === message.move)?.path ?? null;
      draw(state.board, myTurn());
    }
  }

  async function step(key) {
    const at = shown ?? state.ply;
    const to = { first: 0, previous: at - 1, next: at + 1, last: state.ply }[key];
    if (to < 0) return;
    if (to >= state.ply) {
      shown = null;
      update();
      return;
    }
    shown = to;
    const then = await ask(`/games/${id}/at/${to}`);
    if (shown === to) {
      draw(then.board, false);
      mark();
    }
  }

  async function draw(view, own) {
    text.hidden = view.kind !== "text";
    holder.hidden = view.kind === "text";
    if (view.kind === "chess") {
      if (!chess) {
        const { chessBoard } = await import("./chessboard.js");
        if (!chess) {
          chess = chessBoard(play, promotion);
          holder.append(chess.node);
        }
      }
      chess.show(view, own ? colour(state.side) : "", mine ? colour(state.side) : "white");
    } else if (view.kind === "go") {
      goBoard(holder, view, own, say, play, hinted);
    } else if (view.kind === "grid") {
      squareBoard(holder, view, own, say, play, hinted);
    } else {
      text.textContent = view.position;
    }
  }

  function update() {
    const own = myTurn();
    const view = state.board;
    if (shown === null) draw(view, own);
    const bottom = mine ? state.side : 0;
    for (const [place, player] of [[0, bottom], [1, 1 - bottom]]) {
      const prisoners = view.prisoners ? ` · ${say("prisoners", { n: view.prisoners[player] })}` : "";
      players[place].replaceChildren(
        element("span", { class: `disc ${colour(player)}` }),
        element("span", { class: "who" }, `${called(player)} (${say(colour(player))})${prisoners}`),
        element("span", { class: "clock", "data-player": player }));
      players[place].classList.toggle("to-move", !state.result && state.mover === player);
    }
    tick();
    // Tests and style sheets use this state.
    Object.assign(main.dataset, { ply: state.ply, result: state.result,
      turn: own ? "mine" : "theirs",
      legal: JSON.stringify(own ? view.legal.map((move) => move.text ?? move) : []) });
    moves(view.text);
    showStatus(view, own);
    buttons(view, own);
    if (state.trouble) trouble.textContent = say("trouble", { text: state.trouble });
  }

  function showStatus(view, own) {
    const last = view.text.at(-1);
    const by = state.movers.at(-1) === state.side ? "" : state.names[1 - state.side];
    const words = [];
    if (last && state.ply !== announcedPly && by) words.push(say("they played", { name: by, move: last }));
    announcedPly = state.ply;
    if (state.result) words.push(result());
    else if (own) words.push(say(view.check ? "your turn, check" : "your turn"));
    else if (state.thinking) words.push(say("thinking", { name: state.names[1 - state.side] }));
    else if (!mine) words.push(say("watching"));
    status.textContent = words.join(" ");
  }

  function result() {
    const winner = { "1-0": "white wins", "0-1": "black wins", "1/2-1/2": "a draw" }[state.result];
    const reason = say(`end ${state.reason}`);
    const dead = state.board.dead?.length ? ` ${say("dead", { stones: state.board.dead.join(" ") })}` : "";
    const detail = state.detail ? `, ${say(state.detail)}` : "";
    return `${say(winner)} ${state.result}: ${reason}${detail}.${dead}`;
  }

  function moves(texts) {
    // In chess, two moves have the same number. The FEN contains the current number.
    const [, turn, , , , count] = (state.board.fen ?? "").split(" ");
    const halves = 2 * Number(count) + (turn === "b" ? 1 : 0) - texts.length;
    list.classList.toggle("pairs", Boolean(count));
    const items = texts.map((move, number) => element("li", {
      class: state.movers[number] === state.white ? "by-white" : "by-black",
      value: count ? Math.floor((halves + number) / 2) : null,
    }, move));
    list.replaceChildren(...items);
    mark();
  }

  function mark() {
    const at = (shown ?? state.ply) - 1;
    [...list.children].forEach((item, number) => {
      if (number === at) {
        item.setAttribute("aria-current", "step");
        list.scrollTop = Math.max(0, item.offsetTop - list.offsetTop - list.clientHeight / 2);
      } else item.removeAttribute("aria-current");
    });
  }

  function buttons(view, own) {
    const texts = view.legal.map((move) => move.text ?? move);
    const set = (key, visible, enabled = true) => {
      const found = actions.querySelector(`[data-action="${key}"]`);
      found.hidden = !visible;
      found.disabled = !enabled;
    };
    const passes = texts.some((move) => move.toLowerCase() === "pass");
    set("pass", mine && (view.kind === "go" || passes), own && passes);
    set("take back", mine, state.movers.includes(state.side));
    set("hint", mine && !state.result, own);
    set("offer draw", mine && view.kind === "chess" && !state.result, own);
    set("resign", mine && !state.result);
    set("try again", mine && Boolean(state.trouble));
    moveForm.hidden = !mine || Boolean(state.result);
    input.disabled = !own;
    if (!state.trouble) trouble.textContent = "";
    const bare = own && view.kind !== "chess" && view.kind !== "go"
      ? view.legal.filter((move) => !move.path.length && move.text.toLowerCase() !== "pass") : [];
    choice.replaceChildren(...bare.map((move) => element("button", {
      type: "button", "data-move": move.text, onclick: () => play(move.text) }, move.text)));
  }

  function tick() {
    if (!state?.clocks) return;
    const elapsed = (performance.now() - clockAt) / 1000;
    for (const shownClock of main.querySelectorAll(".clock")) {
      const player = Number(shownClock.dataset.player);
      const runs = !state.result && state.mover === player;
      const left = Math.max(0, state.clocks[player] - (runs ? elapsed : 0));
      const seconds = left < 20 ? (left % 60).toFixed(1) : String(Math.floor(left % 60));
      shownClock.textContent = `${Math.floor(left / 60)}:${seconds.padStart(left < 20 ? 4 : 2, "0")}`;
    }
  }
  setInterval(tick, 200);

  moveForm.addEventListener("submit", (event) => {
    event.preventDefault();
    if (input.value.trim()) play(input.value.trim());
    input.value = "";
  });
  list.addEventListener("keydown", (event) => {
    const key = { ArrowLeft: "previous", ArrowRight: "next", Home: "first", End: "last" }[event.key];
    if (!key) return;
    event.preventDefault();
    step(key);
  });
}
