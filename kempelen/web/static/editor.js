// The board editor: sets up a position of chess or Go, to analyse it or to play it.
//
// ?fen= or ?sgf= in the address: the position. The server names its faults.

import { createBoard } from "./board.js";
import { button as cell, COLUMNS, drawing } from "./gridboard.js";
import { ask, element, words } from "./site.js";
import { sgfOf, stonesOf } from "./stones.js";
import { Chessground } from "./vendor/chessground/chessground.min.js";

const say = await words("editor");
const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const ROLES = ["king", "queen", "rook", "bishop", "knight", "pawn"];
const COLOURS = ["white", "black"];
const SIZES = [2, 19];
const FILES = "abcdefgh";

const asked = new URLSearchParams(location.search);
let number = 0; // of the last check; earlier answers are ignored
let warning = ""; // shown with the next check
let good = null; // the checked position, without faults: { analyse, play } addresses

const main = document.getElementById("main");
const game = element("select", { id: "game" }, element("option", { value: "chess" }, say("chess")),
  element("option", { value: "go", selected: asked.has("sgf") }, say("go")));
const faults = element("p", { class: "error faults", role: "alert" });
const state = element("p", { role: "status", "aria-live": "polite" });
const board = element("div", { class: "board-edit" });
const controls = element("div", {});
const button = (key, press, more = {}) =>
  element("button", { type: "button", "data-action": key, onclick: press, ...more }, say(key));
const analyse = button("analyse", () => { location.href = good.analyse; }, { class: "main" });
const play = button("play", () => { location.href = good.play; });
const field = (key, control) => element("p", {}, element("label", { for: control.id }, say(key)), control);

main.append(element("h1", {}, say("title")), element("div", { class: "study" },
  element("div", { class: "left" }, board),
  element("div", { class: "right" }, field("game", game), controls, faults, state,
    element("div", { class: "steps" }, analyse, play))));

/** Check a position on the server. Its address is kept in that of this page. */
async function check(position, accept) {
  const current = number += 1;
  good = null;
  analyse.disabled = play.disabled = true;
  try {
    const found = await ask("/editor/check", position);
    if (number !== current) return;
    const address = accept(found);
    history.replaceState(null, "", `/editor?${address}`);
    faults.textContent = [warning, ...found.faults.map((fault) => say.named("fault", fault))].join(" ").trim();
    warning = "";
    state.textContent = found.faults.length ? "" : say(found.over ? "over" : "legal");
    good = { analyse: `/analyse?${address}`, play: `/play?game=${game.value}&${address}` };
    analyse.disabled = found.faults.length > 0;
    play.disabled = analyse.disabled || found.over;
  } catch (error) {
    if (number !== current) return;
    faults.textContent = say(error.message);
    state.textContent = "";
  }
}

/** Create a group of tools, one of which is chosen. choose(name) is called with the new one. */
function toolbox(label, names, draw, choose, more = {}) {
  const node = element("div", { role: "group", "aria-label": label, ...more });
  const buttons = names.map((name) => {
    const made = draw(name);
    made.addEventListener("click", () => choose(name));
    node.append(made);
    return [name, made];
  });
  return { node, buttons };
}

function press(boxes, chosen) {
  for (const [name, made] of boxes.flatMap(({ buttons }) => buttons)) made.setAttribute("aria-pressed", name === chosen);
}

function editChess() {
  let tool = "move";
  let orientation = "white";
  let counters = "0 1";
  let possible = { castling: [], passing: [] };
  const holder = element("div", { class: "chess", role: "img", "aria-label": say("board") });
  const overlay = element("div", { class: "overlay", hidden: true });
  board.replaceChildren(element("div", { class: "chess-frame" }, holder), overlay);
  const ground = Chessground(holder, {
    autoCastle: false,
    animation: { enabled: false },
    disableContextMenu: true,
    drawable: { enabled: false },
    draggable: { deleteOnDropOff: true, showGhost: true },
    highlight: { lastMove: false, check: false },
    movable: { free: true, color: "both", rookCastle: false },
    premovable: { enabled: false },
    events: { change: changed, dropNewPiece: changed },
  });

  const palettes = COLOURS.map((color) => toolbox(say(color), ROLES.map((role) => `${color} ${role}`), (name) => {
    const [, role] = name.split(" ");
    const made = element("button", { type: "button", "data-tool": name, "aria-label": say(name), title: say(name) },
      element("piece", { class: name }));
    const drag = (event) => ground.dragNewPiece({ color, role }, event, true);
    made.addEventListener("mousedown", drag);
    made.addEventListener("touchstart", drag, { passive: true });
    return made;
  }, choose, { class: "palette cg-wrap" }));
  const tools = toolbox(say("tools"), ["move", "erase"], (name) =>
    element("button", { type: "button", "data-tool": name }, say(name)), choose, { class: "palette tools" });
  const side = element("select", { id: "side", onchange: changed },
    ...COLOURS.map((each) => element("option", { value: each[0] }, say(each))));
  const rights = ["K", "Q", "k", "q"].map((letter) =>
    element("input", { type: "checkbox", id: `castling-${letter}`, onchange: changed, value: letter }));
  const passing = element("select", { id: "passing", onchange: changed });
  const fen = element("input", { id: "fen", maxlength: 120, spellcheck: "false", autocomplete: "off",
    onchange: () => read(fen.value.trim()) });
  controls.replaceChildren(...palettes.map(({ node }) => node), tools.node,
    element("p", { class: "faint" }, say("hint")),
    field("side", side),
    element("fieldset", { class: "castling" }, element("legend", {}, say("castling")), ...rights.map((box) =>
      element("label", { for: box.id }, box, say(`castling ${box.value}`)))),
    field("passing", passing),
    field("fen", fen),
    element("div", { class: "steps" }, button("start", () => read(START)),
      button("clear", () => read(`8/8/8/8/8/8/8/8 ${side.value} - - 0 1`)),
      button("flip", () => {
        orientation = orientation === "white" ? "black" : "white";
        ground.set({ orientation });
        drawOverlay();
      }),
      button("copy", async () => {
        fen.select();
        await navigator.clipboard?.writeText(fen.value).catch(() => {});
        state.textContent = say("copied");
      })));

  function choose(name) {
    tool = name;
    press([...palettes, tools], tool);
    overlay.hidden = tool === "move";
    ground.selectSquare(null);
    drawOverlay();
  }

  /** Cover the board with buttons, which put a piece or take it away. */
  function drawOverlay() {
    if (overlay.hidden) return;
    const focused = overlay.querySelector(":focus")?.dataset.key;
    const svg = drawing(8, 8, say("squares"), 0);
    for (let row = 0; row < 8; row++) {
      for (let column = 0; column < 8; column++) {
        const key = orientation === "white" ? FILES[column] + (8 - row) : FILES[7 - column] + (row + 1);
        const piece = ground.state.pieces.get(key);
        cell(svg, row, column, piece ? `${key}: ${say(`${piece.color} ${piece.role}`)}` : key, () => put(key));
        svg.lastChild.dataset.key = key;
      }
    }
    overlay.replaceChildren(svg);
    if (focused) svg.querySelector(`[data-key="${focused}"]`).focus();
  }

  function put(key) {
    const [color, role] = tool.split(" ");
    const old = ground.state.pieces.get(key);
    const same = old && old.color === color && old.role === role;
    ground.setPieces(new Map([[key, tool === "erase" || same ? undefined : { color, role }]]));
    changed();
  }

  /** Check what the board and the fields show. */
  function changed() {
    const castling = rights.filter((box) => box.checked).map((box) => box.value).join("") || "-";
    drawOverlay();
    return read(`${ground.getFen()} ${side.value} ${castling} ${passing.value || "-"} ${counters}`, true);
  }

  /** Check a FEN, and show it. */
  function read(text, shown = false) {
    return check({ fen: text }, (found) => {
      const [placement, turn, castling, target, ...rest] = found.fen.split(" ");
      possible = found;
      counters = rest.join(" ");
      if (!shown) {
        ground.set({ fen: placement });
        drawOverlay();
      }
      side.value = turn;
      for (const box of rights) {
        box.disabled = !possible.castling.includes(box.value);
        box.checked = castling.includes(box.value);
      }
      passing.replaceChildren(...["-", ...possible.passing].map((square) =>
        element("option", { value: square, selected: square === target }, square === "-" ? say("none") : square)));
      passing.disabled = !possible.passing.length;
      fen.value = found.fen;
      holder.setAttribute("aria-label", `${say("board")} ${found.fen}`);
      return `fen=${found.fen.replaceAll(" ", "_")}`;
    });
  }

  choose("move");
  read(asked.get("fen")?.replaceAll("_", " ") ?? START);
}

function editGo() {
  let tool = "B";
  let rows = Array.from({ length: 9 }, () => ".".repeat(9));
  const view = createBoard(put);
  board.replaceChildren(view.node);
  const tools = toolbox(say("tools"), ["B", "W", "erase"], (name) =>
    element("button", { type: "button", "data-tool": name }, say(name === "erase" ? name : `stone ${name}`)), choose,
  { class: "palette tools" });
  const size = (id, value) => element("input", { id, type: "number", min: SIZES[0], max: SIZES[1], value, onchange: resize });
  const [columns, lines] = [size("columns", 9), size("rows", 9)];
  const side = element("select", { id: "side", onchange: changed },
    element("option", { value: "B" }, say("black")), element("option", { value: "W" }, say("white")));
  const sgf = element("input", { id: "sgf", maxlength: 4000, spellcheck: "false", autocomplete: "off", readonly: true });
  controls.replaceChildren(tools.node, field("columns", columns), field("rows", lines), field("side", side),
    field("sgf", sgf), element("div", { class: "steps" }, button("clear", () => {
      rows = rows.map((line) => ".".repeat(line.length));
      changed();
    })));

  function choose(name) {
    tool = name;
    press([tools], tool);
  }

  /** Put a stone on a point, or take it away. */
  function put(point) {
    const row = rows.length - Number(point.slice(1)), column = COLUMNS.indexOf(point[0]);
    const sign = { B: "X", W: "O", erase: "." }[tool];
    const next = rows[row][column] === sign ? "." : sign;
    rows[row] = rows[row].slice(0, column) + next + rows[row].slice(column + 1);
    changed();
  }

  /** Change the size. Stones that are still on the board stay, from the lower left corner. */
  function resize() {
    if (!columns.value || !lines.value) return; // another number is being typed
    const [width, height] = [columns, lines].map((control) =>
      Math.min(SIZES[1], Math.max(SIZES[0], Math.round(Number(control.value)))));
    [columns.value, lines.value] = [width, height];
    const kept = rows.slice(-height).map((line) => line.slice(0, width).padEnd(width, "."));
    rows = [...Array(height - kept.length).fill(".".repeat(width)), ...kept];
    changed();
  }

  function changed() {
    view.show({ kind: "go", rows }, { movable: true, editing: true, label: say("board") });
    sgf.value = sgfOf(rows, side.value);
    check({ sgf: sgf.value }, () => `sgf=${encodeURIComponent(sgf.value)}`);
  }

  choose("B");
  if (asked.has("sgf")) {
    try {
      const given = stonesOf(asked.get("sgf"));
      ({ rows } = given);
      side.value = given.player;
      [columns.value, lines.value] = [rows[0].length, rows.length];
    } catch (error) {
      warning = say(error.message);
    }
  }
  changed();
}

game.addEventListener("change", () => {
  asked.delete("fen");
  asked.delete("sgf");
  (game.value === "chess" ? editChess : editGo)();
});
(game.value === "chess" ? editChess : editGo)();
