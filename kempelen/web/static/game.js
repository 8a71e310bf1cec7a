// One game: board, clocks, list of moves, and actions.

import { createBoard } from "./board.js";
import { channel } from "./channel.js";
import { captures, onBoard } from "./material.js";
import { endByRules, goResult, lastNumbered, numberedLine, onTypedMove, pliesBefore, score, worded as localMove } from "./notation.js";
import {
  ask, element, language, markStep, remembered, stepButtons, stepOf, withLevel,
} from "./site.js";
import { play as playSound, soundOf } from "./sounds.js";

// On a touch screen, a tap on a point of a Go board is confirmed: fingers are wider than points.
const TOUCH = window.matchMedia("(pointer: coarse)").matches;
const COUNTED = ["othello", "checkers"]; // games whose players see their number of men

/** Show a game. Only the owner of the game may play. */
export async function showGame(main, id, say) {
  const board = createBoard(play, refuse);
  const players = [element("p", { class: "player" }), element("p", { class: "player" })];
  const about = element("p", { class: "about faint" });
  const status = element("p", { class: "status", role: "status", "aria-live": "polite" });
  const trouble = element("p", { class: "error", role: "alert" });
  const count = element("div", { class: "count", hidden: true });
  const sound = remembered("sound", say("sound"), true);
  const warn = remembered("warn", say("warn"), false);
  const list = element("ol", { class: "moves", "aria-label": say("moves"), tabindex: 0 });
  const input = element("input", { id: "move", type: "text", autocomplete: "off",
    autocapitalize: "off", spellcheck: "false", maxlength: 40 });
  const lowTime = element("p", { class: "hidden-words", role: "status" });
  const moveForm = element("form", { class: "by-text" },
    element("label", { for: "move" }, say("your move")), input,
    element("button", { type: "submit" }, say("play it")));
  const choice = element("div", { class: "choice" });
  const after = element("div", { class: "choice after", hidden: true });
  const button = (key, press, kind = "") => element("button", { type: "button", class: kind,
    "data-action": key, onclick: press }, say(key));
  const actions = element("div", { class: "actions" },
    button("pass", () => play("pass")),
    button("take back", () => act({ do: "back" })),
    button("hint", () => act({ do: "hint" })),
    button("offer draw", () => act({ do: "draw" })),
    button("resign", resign),
    button("try again", () => act({ do: "again" })));
  const steps = element("div", { class: "steps", role: "group", "aria-label": say("replay") },
    ...stepButtons(say, (key) => stepTo(key)),
    element("a", { href: `/games/${id}/record` }, say("download")));
  const table = element("div", { class: "table", hidden: true }, // until the game is known
    element("div", { class: "left" }, players[1], board.node, players[0]),
    element("section", { class: "right", "aria-label": say("the game") },
      about, status, lowTime, trouble, count, choice, after, moveForm, actions,
      element("div", { class: "actions" }, warn.node, sound.node), steps, list));
  main.append(element("h1", { class: "hidden-words" }, say("title")), table);

  let state = null;
  let mine = false;
  let shown = null; // the displayed earlier position with its ply, null for the current one
  let target = null; // its ply, also while it is loaded
  let flipped = false;
  let hints = [];
  let typed = ""; // the move that the visitor has typed, until it is played or refused
  let refusal = ""; // the error of the visitor's last action; the next move clears it
  let clockAt = 0;
  let announcedPly = 0;
  let warnedOf = null; // the blunder that the visitor is asked about
  let low = false; // whether the visitor's time is running out
  const title = document.title;

  const line = channel(`/games/${id}/channel`, (message) => {
    if (message.kind === "welcome") mine = message.mine;
    if (message.kind === "error") {
      refuse(message.text, typed);
      if (typed) input.select();
      typed = "";
    }
    if (message.kind === "refused draw") status.textContent = say("draw refused");
    if (message.kind === "hint") hint(message);
    if (message.kind === "blunder" && message.ply === state.ply) {
      input.value = typed = "";
      warnedOf = message;
      update();
    }
    if (message.kind === "game") {
      const heard = state ? soundOf(state, message) : "";
      if (heard && sound.on) playSound(heard);
      warnedOf = null;
      if (message.ply !== state?.ply || message.result !== state.result) refusal = "";
      if (typed && message.ply !== state.ply) input.value = typed = "";
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
  const called = (player) => state.names[player] === "Visitor" ? say("Visitor")
    : withLevel(state.names[player], state.level, say);

  /** Send an action of the visitor. */
  function act(message) {
    refusal = "";
    showTrouble();
    line.send(message);
  }

  function play(move) {
    if (!myTurn()) {
      refuse("it is not your turn");
      return;
    }
    if (warnedOf) choice.replaceChildren();
    warnedOf = null;
    const check = warn.on;
    act({ do: "move", move, ply: state.ply, check });
    if (check) status.textContent = say("checking");
  }

  /** Ask whether to play a move that looks like a mistake or a blunder. */
  function askAboutBlunder() {
    const { grade, move, text, reply, why } = warnedOf;
    const answer = (key, press) => element("button", { type: "button", "data-answer": key, onclick: press }, say(key));
    choice.replaceChildren(
      element("p", { class: "warning", role: "alert" }, say(grade, { move: worded(text), reply: worded(reply) }),
        why ? ` ${reason(why)}` : ""),
      answer("take it back", () => {
        warnedOf = null;
        update();
      }),
      answer("play anyway", () => {
        warnedOf = null;
        choice.replaceChildren();
        line.send({ do: "move", move, ply: state.ply });
      }));
    choice.querySelector("button").focus();
  }

  /** Return why a move is good, in a sentence. */
  const reason = ({ key, piece, square, n }) => say(n === 1 ? `${key} one` : key, { n, piece: piece && named(piece, square) });

  /** Return a piece in words. square: where it is, if there are several of its kind. */
  function named(piece, square) {
    const words = say(`piece ${piece}`);
    return square ? say("piece on", { piece: words, square }) : words;
  }

  /** Show why an action of the visitor was refused, until its next action. move: as it was typed. */
  function refuse(reason, move = "") {
    refusal = move && reason === "illegal move" ? say("illegal typed move", { move }) : say(reason);
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
        act({ do: "resign" });
      } }, say("yes")),
      element("button", { type: "button", onclick: () => choice.replaceChildren() }, say("no")));
    choice.querySelector("button").focus();
  }

  function hint(message) {
    if (message.ply !== state.ply) return;
    const words = [say("hint is", { move: worded(message.text) })];
    if (message.why) words.push(reason(message.why));
    const plies = pliesBefore(state.board.fen);
    if (message.line?.length > 1) {
      const best = plies === null ? message.line.map(worded) : numberedLine(message.line, plies);
      words.push(say("best line", { line: best.join(" ") }));
    }
    status.textContent = words.join(" ");
    hints = marked(message.move);
    if (target === null) draw(false);
  }

  /** Return the marks of a move on the board. */
  function marked(move) {
    const { kind, legal } = state.board;
    const square = move.slice(2, 4);
    if (kind === "chess") return [[move[1] === "@" ? square : move.slice(0, 2), square]];
    return kind === "go" ? [move] : legal.find((each) => each.text === move)?.path ?? [];
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
    if (key === "flip") flip();
    else step({ first: 0, previous: at - 1, next: at + 1, last: state.ply }[key]);
  };

  /** Draw the shown position. again: put back a piece whose move was refused. */
  function draw(again) {
    const view = { ...(shown?.board ?? state.board), players: [0, 1].map(called),
      colours: [0, 1].map(colour), next: colour(state.mover), bottom: mine ? state.side : 0 };
    const bottom = mine ? colour(state.side) : "white";
    const dispute = mine && state.result && target === null && view.count?.disputable
      ? (point) => line.send({ do: "dead", point }) : null;
    // The move that looks like a blunder, and the answer to it.
    const threats = warnedOf && target === null ? [...marked(warnedOf.move), ...marked(warnedOf.answer)] : [];
    board.show(view, { orientation: bottom, flipped, variant: state.about.variant, hints: threats.length ? threats : hints,
      threat: threats.length > 0, again, dispute, confirm: TOUCH, owners: view.count?.owners,
      movable: view.kind === "chess" ? (live() ? bottom : "") : myTurn() });
  }

  function update() {
    const own = myTurn();
    const view = state.board;
    if (target === null || shown) draw(true);
    const bottom = (mine ? state.side : 0) ^ flipped;
    const seen = shown?.board ?? view;
    for (const [place, player] of [[0, bottom], [1, 1 - bottom]]) {
      players[place].replaceChildren(
        element("span", { class: `disc ${colour(player)}` }),
        element("span", { class: "who" }, `${called(player)} (${say(colour(player))})${counted(seen, player)}`,
          seen.kind === "chess" && !seen.fen.includes("[") ? material(seen, colour(player)) : null),
        element("span", { class: "clock", "data-player": player }));
      players[place].classList.toggle("to-move", !state.result && state.mover === player);
    }
    tick();
    // Tests and style sheets use this state.
    Object.assign(main.dataset, { ply: state.ply, result: state.result,
      turn: own ? "mine" : "theirs",
      legal: JSON.stringify(own ? view.legal.map((move) => move.text ?? move) : []) });
    about.textContent = described();
    document.title = own ? `${say("your turn")} ${title}` : title;
    moves(view.text);
    showCount(seen);
    showAfter();
    showStatus(view, own);
    buttons(view, own);
    showTrouble();
    if (warnedOf && own) askAboutBlunder();
  }

  /** Return the game, its rules and its clock in words. */
  function described() {
    const { variant, chess960, columns, rows, rules, komi, base, increment } = state.about;
    const name = chess960 ? say("chess960") : variant && variant !== "chess" ? say(`variant ${variant}`)
      : say.named("game", state.game.split(":").at(-1));
    const number = (value) => value.toLocaleString(language);
    return [columns ? `${name} ${columns}×${rows}` : name, rules && say(`rules ${rules}`),
      rules && say("count komi", { n: number(komi) }),
      base && `${number(base / 60)}+${number(increment)}`].filter(Boolean).join(" · ");
  }

  /** Return a player's prisoners, discs or men in words. */
  function counted(view, player) {
    if (view.prisoners) return ` · ${say("prisoners", { n: view.prisoners[player] })}`;
    if (!COUNTED.includes(state.game)) return "";
    return ` · ${say(`men of ${state.game}`, { n: onBoard(view.rows, colour(player)) })}`;
  }

  /** Show what a colour has captured in chess, and how far it is ahead. */
  function material(view, own) {
    const { taken, figures, ahead } = captures(view, own);
    const label = Object.entries(taken).filter(([, number]) => number)
      .map(([piece, number]) => `${say(`taken ${piece}`)} ${number}`).join(", ");
    const more = ahead > 0 ? `+${ahead}` : "";
    if (!figures && !more) return null;
    return element("span", { class: "captured", role: "img",
      "aria-label": [label && say("captured", { pieces: label }), more].filter(Boolean).join(", ") },
    figures, more ? element("b", {}, more) : null);
  }

  /** Show the count at the end of a game of Go. */
  function showCount({ count: counts }) {
    count.hidden = !counts;
    if (!counts) return;
    const number = (value) => value.toLocaleString(language);
    count.replaceChildren(...[0, 1].map((player) => {
      const parts = ["territory", "stones", "prisoners"].filter((key) => counts[key])
        .map((key) => say(`count ${key}`, { n: counts[key][player] }));
      if (player === state.white) parts.push(say("count komi", { n: number(counts.komi) }));
      return element("p", {}, element("b", {}, say("count", { player: say(colour(player)), n: number(counts.total[player]) })),
        ` = ${parts.join(" + ")}`);
    }), mine && counts.disputable ? element("p", { class: "faint" }, say("dispute")) : "");
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
    else if (state.thinking) words.push(say("thinking", { name: called(1 - state.side) }));
    else if (!mine) words.push(say("watching"));
    if (state.compiling && !state.result) words.push(say("compiling"));
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
    const dead = state.board.dead?.length ? ` ${say("dead", { stones: state.board.dead.join(" ") })}` : "";
    const points = state.board.kind === "chess" ? ` (${score(state.result)})` : "";
    return `${say(winner)}: ${ending(draw)}${points}.${dead}`;
  }

  /** Return why the game has ended. */
  function ending(draw) {
    const detail = state.detail && goResult(say(state.detail), say);
    const rules = state.about.variant ?? state.game;
    const byRules = state.reason === "end of the game" && endByRules(say, rules, draw);
    if (!byRules || (detail && state.board.kind === "chess")) {
      return state.reason === "end of the game" && detail || [say(`end ${state.reason}`), detail].filter(Boolean).join(", ");
    }
    const men = state.board.rows ? ["black", "white"].map((each) => onBoard(state.board.rows, each)) : [];
    const words = byRules.replace("{most}", Math.max(...men)).replace("{least}", Math.min(...men));
    return state.game === "go" && detail ? `${words}, ${detail}` : words;
  }

  /** Offer what to do after the game. */
  function showAfter() {
    after.hidden = !state.result;
    if (after.hidden) after.replaceChildren(); // a taken back move goes on with the game
    if (after.hidden || after.children.length) return;
    const link = (key, href) => element("a", { class: "button", href, "data-action": key }, say(key));
    if (state.analysable) after.append(link("analyse", `/analyse?game=${id}`));
    if (!mine) return;
    if (state.board.count?.disputable) after.append(button("resume play", () => line.send({ do: "resume" })));
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
    const plies = pliesBefore(state.board.fen);
    list.classList.toggle("pairs", plies !== null);
    const items = texts.map((_, number) => element("li", {
      class: isRoll(number) ? "by-chance" : state.movers[number] === state.white ? "by-white" : "by-black",
      value: plies === null ? null : Math.floor((plies - texts.length + number) / 2) + 1,
    }, element("button", { type: "button", onclick: () => step(number + 1) }, written(number))));
    list.replaceChildren(...items);
    mark();
  }

  function mark() {
    markStep(list, list.children, list.children[(target ?? state.ply) - 1]);
  }

  function buttons(view, own) {
    const texts = view.legal.map((move) => move.text ?? move);
    const set = (key, visible, enabled = true) => {
      const found = actions.querySelector(`[data-action="${key}"]`);
      found.hidden = !visible;
      found.disabled = !enabled;
    };
    const passes = texts.some((move) => move.toLowerCase() === "pass");
    warn.node.hidden = !mine || Boolean(state.result);
    set("pass", mine && !state.result && (view.kind === "go" || passes), own && passes);
    set("take back", mine, state.movers.includes(state.side));
    set("hint", mine && !state.result, own);
    set("offer draw", mine && view.kind === "chess" && !state.result, own);
    set("resign", mine && !state.result);
    set("try again", mine && Boolean(state.trouble));
    moveForm.hidden = !mine || Boolean(state.result);
    input.readOnly = !own; // a disabled input would lose the focus
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
      const runs = !state.result && state.running[player];
      const left = Math.max(0, state.clocks[player] - (runs ? elapsed : 0));
      // As long as on lichess: an eighth of the time, between 10 and 60 seconds.
      const short = left < Math.min(60, Math.max(10, state.base / 8));
      shownClock.classList.toggle("low", short);
      if (mine && player === state.side && short !== low && !state.result) {
        low = short;
        if (low && sound.on) playSound("low");
        lowTime.textContent = low ? say("low time") : "";
      }
      const seconds = left < 20 ? (left % 60).toFixed(1) : String(Math.floor(left % 60));
      shownClock.textContent = `${Math.floor(left / 60)}:${seconds.padStart(left < 20 ? 4 : 2, "0")}`;
    }
  }
  setInterval(tick, 200);

  // In chess, the move is kept as a premove.
  board.node.addEventListener("click", () => {
    if (live() && !myTurn() && state.board.kind !== "chess") refuse("it is not your turn");
  });
  onTypedMove(moveForm, input, () => state.board.kind === "chess", (move, text) => {
    typed = text;
    play(move);
    return false; // the answer comes later
  });
  document.addEventListener("keydown", (event) => {
    const key = stepOf(event);
    if (!key || !state) return;
    event.preventDefault();
    stepTo(key);
  });
}
