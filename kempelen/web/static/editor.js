// The board editor: sets up a position, to analyse it or to play it. The server names its faults.
//
// The position in the address: ?fen= of a &variant= of chess, ?sgf=, or ?position= of a &board= game.

import { createBoard } from "./board.js";
import { button as cell, drawing } from "./gridboard.js";
import { fenQuery } from "./notation.js";
import { ask, element, sortedByText, words } from "./site.js";
import { positionOf, rowsOf, sgfOf, stonesOf } from "./stones.js";
import { Chessground } from "./vendor/chessground/chessground.min.js";

const say = await words("editor");
const played = await words("play");
const choices = await ask("/editor/choices");
const ROLES = ["king", "queen", "rook", "bishop", "knight", "pawn"];
const COLOURS = ["white", "black"];
const FILES = "abcdefgh";
const POCKETS = "QRBNP"; // the pieces that can be in hand
const MAX_CHECKS = 3;
const SIDES = { X: "black", O: "white", b: "black", w: "white" };
const PIECES = { ...SIDES, b: "black man", w: "white man", B: "black crowned", W: "white crowned" };

const asked = new URLSearchParams(location.search);
let number = 0; // of the last check; earlier answers are ignored
let warning = ""; // shown with the next check
let good = null; // the checked position, without faults: { analyse, play } addresses

const main = document.getElementById("main");
const chosen = asked.has("sgf") ? "go" : asked.get("board") in choices.boards ? asked.get("board") : "chess";
const called = (name) => played.named("game", name.split(":").at(-1));
const game = element("select", { id: "game" },
  ...sortedByText(["chess", "go", ...Object.keys(choices.boards)], called).map((name) =>
    element("option", { value: name, selected: name === chosen }, called(name))));
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

/** Return the classes of a chess piece, given by its letter in a FEN. */
function pieceOf(sign) {
  const letter = sign.toLowerCase();
  return `${sign === letter ? "black" : "white"} ${ROLES[[..."kqrbnp"].indexOf(letter)]}`;
}

function editChess() {
  let tool = "move";
  let orientation = "white";
  let counters = "0 1";
  let possible = { castling: [], passing: [] };
  const variant = element("select", { id: "variant", onchange: () => read(choices.variants[variant.value]) },
    ...Object.keys(choices.variants).map((name) => element("option", { value: name }, played(`variant ${name}`))));
  const requested = asked.get("variant") ?? "chess";
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
  const castling = element("fieldset", { class: "castling" }, element("legend", {}, say("castling")), ...rights.map((box) =>
    element("label", { for: box.id }, box, say(`castling ${box.value}`))));
  const inHand = COLOURS.flatMap((color) => [...POCKETS].map((letter, place) => {
    const sign = color === "white" ? letter : letter.toLowerCase();
    return element("input", { id: `pocket-${sign}`, type: "number", min: 0, max: 16, value: 0, onchange: changed,
      "data-sign": sign, "aria-label": say(`${color} ${ROLES[place + 1]}`) });
  }));
  const pockets = element("fieldset", { class: "pockets cg-wrap" }, element("legend", {}, say("pockets")), ...inHand.map((input) =>
    element("label", { for: input.id }, element("piece", { class: pieceOf(input.dataset.sign) }), input)));
  const checks = COLOURS.map((color) => element("select", { id: `checks-${color}`, onchange: changed },
    ...Array.from({ length: MAX_CHECKS + 1 }, (_, left) => element("option", { value: left }, String(left)))));
  const checksLeft = element("div", {}, ...checks.map((control, place) => field(`checks ${COLOURS[place]}`, control)));
  const passing = element("select", { id: "passing", onchange: changed });
  const fen = element("input", { id: "fen", maxlength: 120, spellcheck: "false", autocomplete: "off",
    onchange: () => read(fen.value.trim()) });
  controls.replaceChildren(...palettes.map(({ node }) => node), tools.node,
    element("p", { class: "faint" }, say("hint")),
    field("variant", variant), field("side", side), castling, pockets, checksLeft, field("passing", passing),
    field("fen", fen),
    element("div", { class: "steps" }, button("start", () => read(choices.variants[variant.value])),
      button("clear", () => {
        ground.setPieces(new Map([...ground.state.pieces.keys()].map((key) => [key, undefined])));
        for (const input of inHand) input.value = 0;
        changed();
      }),
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

  /** Show the fields of the variant. */
  function show() {
    pockets.hidden = variant.value !== "crazyhouse";
    checksLeft.hidden = variant.value !== "3check";
    castling.hidden = ["antichess", "racingkings"].includes(variant.value);
  }

  /** Check what the board and the fields show. */
  function changed() {
    const rightsLeft = rights.filter((box) => box.checked).map((box) => box.value).join("") || "-";
    const hand = pockets.hidden ? "" : `[${inHand.map((input) => input.dataset.sign.repeat(Number(input.value))).join("")}]`;
    const left = checksLeft.hidden ? [] : [checks.map((control) => control.value).join("+")];
    drawOverlay();
    return read([ground.getFen() + hand, side.value, rightsLeft, passing.value || "-", ...left, counters].join(" "), true);
  }

  /** Check a FEN, and show it. */
  function read(text, shown = false, name = variant.value) {
    return check({ fen: text, variant: name }, (found) => {
      variant.value = found.variant;
      show();
      const [placement, turn, rightsLeft, target, ...rest] = found.fen.split(" ");
      const [pieces, hand = ""] = placement.split("[");
      possible = found;
      counters = rest.slice(-2).join(" ");
      if (!shown) {
        ground.set({ fen: pieces });
        drawOverlay();
      }
      side.value = turn;
      for (const input of inHand) input.value = [...hand].filter((sign) => sign === input.dataset.sign).length;
      if (rest.length > 2) rest[0].split("+").forEach((left, place) => { checks[place].value = left; });
      for (const box of rights) {
        box.disabled = !possible.castling.includes(box.value);
        box.checked = rightsLeft.includes(box.value);
      }
      passing.replaceChildren(...["-", ...possible.passing].map((square) =>
        element("option", { value: square, selected: square === target }, square === "-" ? say("none") : square)));
      passing.disabled = !possible.passing.length;
      fen.value = found.fen;
      holder.setAttribute("aria-label", `${say("board")} ${found.fen}`);
      return fenQuery(found.fen, variant.value);
    });
  }

  choose("move");
  show();
  read(asked.get("fen")?.replaceAll("_", " ") ?? choices.variants[requested] ?? choices.variants.chess,
    false, requested);
}

/**
 * The forms of positions on grids. parse(text) returns the rows from the top and the sign of the side
 * to move; format(rows, side) is its inverse. sides: with the keys of their names. pieces: with the
 * keys of their names. start: a position. query(text) is the part of the address.
 */
function formOf(name) {
  if (name === "go") {
    return {
      field: "sgf", pieces: { X: "stone B", O: "stone W" }, sides: { B: "black", W: "white" }, sizes: choices.go,
      start: sgfOf(Array(9).fill(".".repeat(9)), "B"), parse: stonesOf, format: sgfOf,
      request: (sgf) => ({ sgf }), query: (sgf) => `sgf=${encodeURIComponent(sgf)}`,
      given: asked.get("sgf"), view: { kind: "go" },
    };
  }
  const { start, pieces, sizes } = choices.boards[name];
  return {
    field: "position", pieces: Object.fromEntries([...pieces.join("")].map((sign) => [sign, PIECES[sign] ?? sign])),
    sides: Object.fromEntries(pieces.map(([sign]) => [sign, SIDES[sign] ?? sign])), sizes,
    start, parse: rowsOf, format: positionOf, request: (position) => ({ board: name, position }),
    query: (text) => `board=${encodeURIComponent(name)}&position=${encodeURIComponent(text.replaceAll(" ", "_"))}`,
    given: asked.get("board") === name ? asked.get("position")?.replaceAll("_", " ") : null,
    view: { kind: "grid" },
  };
}

function editGrid() {
  const form = formOf(game.value);
  let tool = Object.keys(form.pieces)[0];
  let rows = [];
  let drawn = form.view;
  const view = createBoard(put);
  board.replaceChildren(view.node);
  const tools = toolbox(say("tools"), [...Object.keys(form.pieces), "erase"], (name) =>
    element("button", { type: "button", "data-tool": name }, say(form.pieces[name] ?? name)), choose,
  { class: "palette tools" });
  const square = form.sizes.size && game.value !== "go";
  const size = (id, bounds) => element("input", { id, type: "number", min: bounds?.[0], max: bounds?.[1], onchange: resize });
  const columns = size("columns", form.sizes.width ?? form.sizes.size);
  const lines = size("rows", form.sizes.height ?? form.sizes.size);
  const side = element("select", { id: "side", onchange: changed }, ...Object.entries(form.sides).map(([sign, name]) =>
    element("option", { value: sign }, say(name))));
  const text = element("input", { id: form.field, maxlength: 4000, spellcheck: "false", autocomplete: "off",
    onchange: () => read(text.value.trim()) });
  const fields = [field(square ? "size" : "columns", columns), field("rows", lines)];
  fields[0].hidden = !form.sizes.size && !form.sizes.width;
  fields[1].hidden = fields[0].hidden || square;
  controls.replaceChildren(tools.node, ...fields, field("side", side), field(form.field, text),
    element("div", { class: "steps" }, button("start", () => read(form.start)), button("clear", () => {
      rows = rows.map((line) => ".".repeat(line.length));
      changed();
    })));

  function choose(name) {
    tool = name;
    press([tools], tool);
  }

  /** Put a piece on a cell, or take it away. */
  function put([row, column]) {
    const sign = tool === "erase" || rows[row][column] === tool ? "." : tool;
    rows[row] = rows[row].slice(0, column) + sign + rows[row].slice(column + 1);
    changed();
  }

  /** Change the size. Pieces that are still on the board stay, from the lower left corner. */
  function resize() {
    if (!columns.value || !lines.value) return; // another number is being typed
    if (square) lines.value = columns.value;
    const [width, height] = [columns, lines].map((control) =>
      Math.min(control.max, Math.max(control.min, Math.round(Number(control.value)))));
    const kept = rows.slice(-height).map((line) => line.slice(0, width).padEnd(width, "."));
    rows = [...Array(height - kept.length).fill(".".repeat(width)), ...kept];
    changed();
  }

  /** Show a position given as text. */
  function read(given) {
    try {
      const found = form.parse(given);
      ({ rows } = found);
      side.value = found.side;
    } catch (error) {
      warning = say(error.message);
      if (!rows.length) ({ rows } = form.parse(form.start));
    }
    changed();
  }

  function draw() {
    [columns.value, lines.value] = [rows[0].length, rows.length];
    view.show({ ...drawn, rows }, { movable: true, editing: true, label: say("board") });
  }

  /** Show and check the position. */
  function changed() {
    text.value = form.format(rows, side.value);
    draw();
    check(form.request(text.value), (found) => {
      drawn = found.view ?? drawn;
      if (found.position) {
        text.value = found.position;
        side.value = found.side;
        for (const option of side.options) option.disabled = found.sides.length === 1 && found.sides[0] !== option.value;
        draw();
      }
      return form.query(text.value);
    });
  }

  choose(tool);
  read(form.given ?? form.start);
}

function edit() {
  (game.value === "chess" ? editChess : editGrid)();
}

game.addEventListener("change", () => {
  for (const key of ["fen", "variant", "sgf", "board", "position"]) asked.delete(key);
  edit();
});
edit();
