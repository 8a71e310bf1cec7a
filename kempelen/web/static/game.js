// One game: board, clocks, list of moves, and actions.

import { createBoard } from "./board.js";
import { channel } from "./channel.js";
import { englishSan, lastNumbered, worded as localMove } from "./notation.js";
import { ask, element } from "./site.js";

/** Show a game. Only the owner of the game may play. */
export async function showGame(main, id, say) {
  const board = createBoard(play, refuse);
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
  const after = element("div", { class: "choice after", hidden: true });
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
        onclick: () => stepTo(key) }, sign)),
    element("button", { type: "button", "data-action": "flip", onclick: flip }, say("flip")),
    element("a", { href: `/games/${id}/record` }, say("download")));
  const table = element("div", { class: "table", hidden: true }, // until the game is known
    element("div", { class: "left" }, players[1], board.node, players[0]),
    element("section", { class: "right", "aria-label": say("the game") },
      status, trouble, choice, after, moveForm, actions, steps, list));
  main.append(element("h1", { class: "hidden-words" }, say("title")), table);

  let state = null;
  let mine = false;
  let shown = null; // the displayed earlier position with its ply, null for the current one
  let target = null; // its ply, also while it is loaded
  let flipped = false;
  let hints = [];
  let refusal = ""; // the error of the visitor's last action; the next move clears it
  let clockAt = 0;
  let announcedPly = 0;

  const line = channel(`/games/${id}/channel`, (message) => {
    if (message.kind === "welcome") mine = message.mine;
    if (message.kind === "error") refuse(message.text);
    if (message.kind === "refused draw") status.textContent = say("draw refused");
    if (message.kind === "hint") hint(message);
    if (message.kind === "game") {
      if (message.ply !== state?.ply || message.result !== state.result) refusal = "";
      state = message;
      table.hidden = false;
      clockAt = performance.now();
      hints = [];
      if (target !== null && target >= state.ply) target = shown = null;
      update();
    }
  });

  const live = () => mine && !state.result && target === null;
  const myTurn = () => live() && !state.thinking && state.mover === state.side;
  const colour = (player) => player === state.white ? "white" : "black";
  // A visitor of a server without tokens has no name.
  const called = (player) => state.names[player] === "Visitor" ? say("Visitor") : state.names[player];

  function play(move) {
    if (!myTurn()) {
      refuse("it is not your turn");
      return;
    }
    refusal = "";
    showTrouble();
    line.send({ do: "move", move, ply: state.ply });
  }

  /** Show why an action of the visitor was refused, until the next move. */
  function refuse(reason) {
    refusal = say(reason);
    showTrouble();
  }

  function showTrouble() {
    trouble.textContent = refusal || (state?.trouble ? say("trouble", { text: state.trouble }) : "");
  }

  function flip() {
    flipped = !flipped;
    update();
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

  function hint(message) {
    if (message.ply !== state.ply) return;
    status.textContent = say("hint is", { move: worded(message.text) });
    const { kind, legal } = state.board;
    if (kind === "chess") hints = [[message.move.slice(0, 2), message.move.slice(2, 4)]];
    else if (kind === "go") hints = [message.move];
    else hints = legal.find((each) => each.text === message.move)?.path ?? [];
    if (target === null) draw(false);
  }

  /** Show the position after a number of moves. */
  async function step(to) {
    if (to < 0 || to > state.ply) return;
    target = to === state.ply ? null : to;
    shown = null;
    if (target === null) {
      update();
      return;
    }
    mark();
    const then = await ask(`/games/${id}/at/${to}`);
    if (target !== to) return;
    shown = then;
    update();
  }

  const stepTo = (key) => {
    const at = target ?? state.ply;
    step({ first: 0, previous: at - 1, next: at + 1, last: state.ply }[key]);
  };

  /** Draw the shown position. again: put back a piece whose move was refused. */
  function draw(again) {
    const view = { ...(shown?.board ?? state.board), players: [0, 1].map(called),
      colours: [0, 1].map(colour), bottom: mine ? state.side : 0 };
    const bottom = mine ? colour(state.side) : "white";
    board.show(view, { orientation: bottom, flipped, hints, again,
      movable: view.kind === "chess" ? (live() ? bottom : "") : myTurn() });
  }

  function update() {
    const own = myTurn();
    const view = state.board;
    if (target === null || shown) draw(true);
    const bottom = (mine ? state.side : 0) ^ flipped;
    const { prisoners } = shown?.board ?? view;
    for (const [place, player] of [[0, bottom], [1, 1 - bottom]]) {
      const taken = prisoners ? ` · ${say("prisoners", { n: prisoners[player] })}` : "";
      players[place].replaceChildren(
        element("span", { class: `disc ${colour(player)}` }),
        element("span", { class: "who" }, `${called(player)} (${say(colour(player))})${taken}`),
        element("span", { class: "clock", "data-player": player }));
      players[place].classList.toggle("to-move", !state.result && state.mover === player);
    }
    tick();
    // Tests and style sheets use this state.
    Object.assign(main.dataset, { ply: state.ply, result: state.result,
      turn: own ? "mine" : "theirs",
      legal: JSON.stringify(own ? view.legal.map((move) => move.text ?? move) : []) });
    moves(view.text);
    showAfter();
    showStatus(view, own);
    buttons(view, own);
    showTrouble();
  }

  function showStatus(view, turn) {
    if (target !== null) {
      const position = shown?.board ?? {};
      const move = target && written(target - 1);
      if (!target) status.textContent = say("first");
      else if (state.board.kind !== "chess") {
        status.textContent = say("at move", { number: target, count: state.ply, move });
      } else if (position.fen) {
        status.textContent = lastNumbered(position, state.board.text[target - 1], target);
      }
      return;
    }
    // What has happened since the visitor's last move.
    const own = state.movers.map((mover, ply) => mover === state.side && !isRoll(ply)).lastIndexOf(true);
    const since = Math.max(announcedPly, own + 1);
    const words = [];
    for (let ply = since; ply < state.ply; ply += 1) {
      if (isRoll(ply)) words.push(`${written(ply)}.`);
      else if (state.movers[ply] !== state.side) {
        words.push(say("they played", { name: called(1 - state.side), move: written(ply) }));
      }
    }
    announcedPly = state.ply;
    if (state.result) words.push(result());
    else if (turn) words.push(say(view.check ? "your turn, check" : "your turn"));
    else if (state.thinking) words.push(say("thinking", { name: state.names[1 - state.side] }));
    else if (!mine) words.push(say("watching"));
    status.textContent = words.join(" ");
  }

  const isRoll = (ply) => Boolean(state.board.rolls?.includes(ply));

  /** Return a move or a roll of dice in words. */
  function written(ply) {
    return localMove(say, state.board.kind, state.board.text[ply], isRoll(ply));
  }

  /** Return a move in the page's language, such as Cf3 or barra/22. */
  function worded(move) {
    return localMove(say, state.board.kind, move);
  }

  function result() {
    const draw = state.result === "1/2-1/2";
    const won = (state.result === "1-0") === (state.side === state.white);
    const winner = draw ? "a draw" : mine ? (won ? "you won" : "you lost")
      : state.result === "1-0" ? "white wins" : "black wins";
    const reason = say(`end ${state.reason}`);
    const dead = state.board.dead?.length ? ` ${say("dead", { stones: state.board.dead.join(" ") })}` : "";
    const detail = state.detail ? `, ${say(state.detail)}` : "";
    return `${say(winner)} ${state.result}: ${reason}${detail}.${dead}`;
  }

  /** Offer what to do after the game. */
  function showAfter() {
    after.hidden = !state.result;
    if (after.hidden || after.children.length) return;
    const link = (key, href) => element("a", { class: "button", href, "data-action": key }, say(key));
    if (["chess", "go"].includes(state.board.kind)) after.append(link("analyse", `/analyse?game=${id}`));
    if (!mine) return;
    after.append(button("rematch", rematch, "main"), link("new game", `/play?game=${encodeURIComponent(state.game)}`));
  }

  async function rematch() {
    try {
      location.href = `/play/${(await ask(`/games/${id}/rematch`, {})).id}`;
    } catch (error) {
      refuse(error.message);
    }
  }

  function moves(texts) {
    // In chess, two moves have the same number. The FEN contains the current number.
    const [, turn, , , , count] = (state.board.fen ?? "").split(" ");
    const halves = 2 * Number(count) + (turn === "b" ? 1 : 0) - texts.length;
    list.classList.toggle("pairs", Boolean(count));
    const items = texts.map((_, number) => element("li", {
      class: isRoll(number) ? "by-chance" : state.movers[number] === state.white ? "by-white" : "by-black",
      value: count ? Math.floor((halves + number) / 2) : null,
    }, element("button", { type: "button", onclick: () => step(number + 1) }, written(number))));
    list.replaceChildren(...items);
    mark();
  }

  function mark() {
    const at = (target ?? state.ply) - 1;
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
    const bare = own && !["chess", "go", "backgammon"].includes(view.kind)
      ? view.legal.filter((move) => !move.path.length && move.text.toLowerCase() !== "pass") : [];
    choice.replaceChildren(...bare.map((move) => element("button", {
      type: "button", "data-move": move.text, onclick: () => play(move.text) }, worded(move.text))));
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

  // In chess, the move is kept as a premove.
  board.node.addEventListener("click", () => {
    if (live() && !myTurn() && state.board.kind !== "chess") refuse("it is not your turn");
  });
  moveForm.addEventListener("submit", (event) => {
    event.preventDefault();
    const typed = input.value.trim();
    if (typed) play(state.board.kind === "chess" ? englishSan(typed) : typed);
    input.value = "";
  });
  document.addEventListener("keydown", (event) => {
    const key = { ArrowLeft: "previous", ArrowRight: "next", Home: "first", End: "last" }[event.key];
    if (!key || !state || event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey
      || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
    event.preventDefault();
    stepTo(key);
  });
}
