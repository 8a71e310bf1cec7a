// Playable SVG boards: Go on lines, and games on squares.
//
// Every playable cell is a button with a name: Tab reaches the board, the arrow keys move, and
// Enter plays.

import { element, shape } from "./site.js";

export const COLUMNS = "ABCDEFGHJKLMNOPQRSTUVWXYZ";
const CELL = 10;
const GO_MARGIN = 4; // with the coordinates
// The star points of a board: on the outer lines and, on large boards, between them.
const STARS = { 9: [2, 4, 6], 13: [3, 6, 9], 19: [3, 9, 15] };
const SIDE_STARS = 19;
const STONES = { X: "black", O: "white" };
const FAR = 1000;
const OPPOSITE = { ArrowUp: "ArrowDown", ArrowDown: "ArrowUp", ArrowLeft: "ArrowRight", ArrowRight: "ArrowLeft" };
const MEN = { b: "black", w: "white", B: "black king", W: "white king" };

/** Return the Go coordinates of a cell, such as D4. */
function vertex(row, column, rows) {
  return `${COLUMNS[column]}${rows - row}`;
}

/** Create an empty board. flipped: whether it is turned round. */
export function drawing(rows, columns, label, margin, flipped) {
  return shape("svg", {
    class: flipped ? "grid flipped" : "grid",
    role: "group",
    "aria-label": label,
    viewBox: `${-margin} ${-margin} ${columns * CELL + 2 * margin} ${rows * CELL + 2 * margin}`,
    "data-cells": `${CELL} ${CELL} ${columns} ${rows}`,
  });
}

function stone(row, column, kind) {
  const group = shape("g", { class: `stone ${kind}` });
  group.append(shape("circle", { class: "shadow",
    cx: column * CELL + CELL * 0.54, cy: row * CELL + CELL * 0.58, r: CELL * 0.46 }));
  group.append(shape("circle", {
    cx: column * CELL + CELL / 2, cy: row * CELL + CELL / 2, r: CELL * 0.46,
  }));
  if (kind.includes("king")) {
    group.append(shape("circle", {
      class: "crown", cx: column * CELL + CELL / 2, cy: row * CELL + CELL / 2, r: CELL * 0.22,
    }));
  }
  return group;
}

/** Turn a cell into a button. box: its place, if it is not a square. */
export function button(svg, row, column, name, press, box = {}) {
  const cell = shape("rect", {
    class: "press", x: column * CELL, y: row * CELL, width: CELL, height: CELL, ...box,
    role: "button", tabindex: svg.querySelector(".press") ? -1 : 0, "aria-label": name,
    "data-row": row, "data-column": column,
  });
  cell.addEventListener("click", press);
  cell.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      press();
    } else if (event.key.startsWith("Arrow")) {
      event.preventDefault();
      go(svg, cell, event.key);
    }
  });
  svg.append(cell);
}

/** Return the button of a cell, or null. */
export function buttonAt(node, { row, column }) {
  return node.querySelector(`.press[data-row="${row}"][data-column="${column}"]`);
}

/** Move the focus to the nearest button in a direction. */
function go(svg, cell, pressed) {
  const key = svg.classList.contains("flipped") ? OPPOSITE[pressed] : pressed;
  const [row, column] = [Number(cell.dataset.row), Number(cell.dataset.column)];
  let best = null;
  for (const other of svg.querySelectorAll(".press")) {
    const down = Number(other.dataset.row) - row;
    const right = Number(other.dataset.column) - column;
    const ahead = { ArrowUp: -down, ArrowDown: down, ArrowLeft: -right, ArrowRight: right }[key];
    if (ahead <= 0) continue;
    // The next row up or down, and then the next place in that row: every place can be reached.
    const far = key === "ArrowUp" || key === "ArrowDown" ? FAR * ahead + Math.abs(right) : FAR * Math.abs(down) + ahead;
    if (!best || far < best.far) best = { far, other };
  }
  if (best) {
    cell.setAttribute("tabindex", -1);
    best.other.setAttribute("tabindex", 0);
    best.other.focus();
  }
}

/** Keep the focus when the board is redrawn. After a click, it stays invisible. */
export function replace(holder, svg) {
  const old = holder.querySelector("rect.press:focus");
  const focusVisible = Boolean(old?.matches(":focus-visible"));
  holder.replaceChildren(svg);
  if (!old) return;
  const same = buttonAt(svg, old.dataset) ?? svg.querySelector(".press");
  if (same) same.focus({ focusVisible });
}

/**
 * Draw a Go position. Without view.legal, every empty point can be pressed; editing: also stones, and
 * play([row, column]) is called.
 * dispute(point) is called if a stone is pressed, to change it between alive and dead. confirm: a
 * move is played only when its point is pressed a second time, or the button below the board.
 */
export function goBoard(holder, view, options, say, play, refuse) {
  const { movable, flipped, hints = [], threat, ranked, owners = [], label, dispute, confirm, editing } = options;
  const [rows, columns] = [view.rows.length, view.rows[0].length];
  const svg = drawing(rows, columns, label ?? say("board"), GO_MARGIN, flipped);
  svg.classList.add("go");
  svg.append(shape("rect", { class: "wood", x: -GO_MARGIN, y: -GO_MARGIN, width: columns * CELL + 2 * GO_MARGIN,
    height: rows * CELL + 2 * GO_MARGIN }));
  const middle = (place) => place * CELL + CELL / 2;
  const write = (x, y, text, kind = "mark") =>
    svg.append(shape("text", { class: kind, x, y, "aria-hidden": "true" }, text));
  const disc = (row, column, kind, r) =>
    shape("circle", { class: kind, cx: middle(column), cy: middle(row), r });
  let lines = "";
  for (let row = 0; row < rows; row++) {
    lines += `M${middle(0)} ${middle(row)}H${middle(columns - 1)}`;
    for (const x of [-1.4, columns * CELL + 1.4]) write(x, middle(row) + 1, String(rows - row));
  }
  for (let column = 0; column < columns; column++) {
    lines += `M${middle(column)} ${middle(0)}V${middle(rows - 1)}`;
    for (const y of [-0.6, rows * CELL + 2.4]) write(middle(column), y, COLUMNS[column]);
  }
  svg.append(shape("path", { class: "lines", d: lines }));
  const [down, right] = [STARS[rows] ?? [], STARS[columns] ?? []];
  for (const row of down) {
    for (const column of right) {
      const beside = (row === down[1]) !== (column === right[1]); // at a side, not in a corner or the middle
      if (!beside || (rows >= SIDE_STARS && columns >= SIDE_STARS)) svg.append(disc(row, column, "star", 1));
    }
  }
  const dead = new Set(view.dead);
  const legal = view.legal && new Set(view.legal);
  const last = [view.last].flat()[0];
  const ranks = new Map(hints.flat().map((point, rank) => [String(point).toUpperCase(), rank]));
  view.rows.forEach((cells, row) => [...cells].forEach((sign, column) => {
    const name = vertex(row, column, rows);
    const owner = owners[row * columns + column] ?? 0;
    if (sign === "X" || sign === "O") {
      const kind = sign === "X" ? "black" : "white";
      const drawn = stone(row, column, dead.has(name) ? `${kind} dead` : kind);
      if (last === name) drawn.append(disc(row, column, "last", 2));
      svg.append(drawn);
      if (dispute) {
        const status = say(dead.has(name) ? "dead" : "alive");
        button(svg, row, column, `${name}: ${say(kind)}, ${status}`, () => dispute(name));
      }
    }
    if (Math.abs(owner) >= 0.05) {
      svg.append(shape("rect", { class: owner > 0 ? "own black" : "own white",
        x: middle(column) - 2, y: middle(row) - 2, width: 4, height: 4,
        "fill-opacity": Math.abs(owner).toFixed(2) }));
    }
    if (ranks.has(name)) svg.append(disc(row, column, threat ? "hint threat" : `hint rank${ranks.get(name)}`, 3));
    if (ranked && ranks.has(name)) write(middle(column), middle(row) + 1.3, String(ranks.get(name) + 1), "rank");
    const free = sign !== "X" && sign !== "O";
    if (movable && (editing || (free && (legal?.has(name) ?? true)))) {
      const stones = free ? "" : `: ${say(sign === "X" ? "black" : "white")}`;
      button(svg, row, column, name + stones, () =>
        (editing ? play([row, column]) : confirm ? choose(row, column, name) : play(name)));
    } else if (movable) {
      const closed = shape("rect", { class: "closed", x: column * CELL, y: row * CELL, width: CELL, height: CELL });
      closed.addEventListener("click", () => refuse(free ? "illegal move" : "occupied"));
      svg.append(closed);
    }
  }));
  replace(holder, svg);

  /** Show a stone on a point, and ask for a second press. */
  function choose(row, column, name) {
    if (svg.dataset.chosen === name) {
      play(name);
      return;
    }
    svg.dataset.chosen = name;
    svg.querySelector(".stone.chosen")?.remove();
    holder.querySelector(".confirm")?.remove();
    svg.append(stone(row, column, `${view.next} chosen`));
    const bar = element("p", { class: "confirm" },
      element("button", { type: "button", class: "main", onclick: () => play(name) }, say("play point", { point: name })),
      element("button", { type: "button", onclick: () => {
        delete svg.dataset.chosen;
        svg.querySelector(".stone.chosen").remove();
        bar.remove();
      } }, say("cancel")));
    holder.append(bar);
  }
}

/**
 * Draw a position on squares. A move is one cell, or a path of several cells. view.dark: only the
 * dark squares are used, as in checkers. editing: play([row, column]) is called for any used square.
 */
export function squareBoard(holder, view, options, say, play, refuse) {
  const { movable, flipped, hints = [], threat, label, editing } = options;
  const [rows, columns] = [view.rows.length, view.rows[0].length];
  const { labels } = view;
  const svg = drawing(rows, columns, label ?? say("board"), labels ? 5 : 1, flipped && !view.falls);
  const played = new Set((view.last ?? []).map(String));
  const won = new Set((view.line ?? []).map(String));
  const men = view.dark ? MEN : STONES;
  let chosen = null;

  /** Write the name of a column, a row or a square. */
  function write(x, y, text, kind = "mark") {
    const made = shape("text", { class: kind, x, y, "aria-hidden": "true" });
    made.append(text);
    svg.append(made);
  }

  function draw() {
    svg.replaceChildren();
    labels?.columns.forEach((each, column) => write(column * CELL + 5, rows * CELL + 4, each));
    labels?.rows.forEach((each, row) => write(-2.5, row * CELL + 6.4, each));
    view.rows.forEach((cells, row) => [...cells].forEach((sign, column) => {
      const dark = view.dark && (row + column) % 2;
      const kinds = ["cell", dark && "dark", played.has(String([row, column])) && "played",
        won.has(String([row, column])) && "won", chosen && String(chosen) === String([row, column]) && "chosen"];
      const drawn = shape("rect", { class: kinds.filter(Boolean).join(" "), x: column * CELL,
        y: row * CELL, width: CELL, height: CELL });
      if (movable && !editing) drawn.addEventListener("click", () => refuse("illegal move"));
      svg.append(drawn);
      // The numbers of the squares, by which moves of checkers are written.
      if (dark) write(column * CELL + 2, row * CELL + 2.9, String((row * columns + column + 1 + (row % 2)) >> 1), "number");
      if (men[sign]) svg.append(stone(row, column, men[sign]));
      else if (sign !== "." && sign !== " ") {
        const mark = shape("text", { class: "piece", x: column * CELL + 5, y: row * CELL + 8 });
        mark.append(sign);
        svg.append(mark);
      }
    }));
    for (const [cell, moves] of editing ? [] : pressable()) {
      const [row, column] = cell.split(",").map(Number);
      const name = [named(row, column), moves.map((move) => move.text).join(", ")];
      button(svg, row, column, name.filter(Boolean).join(": "), () => pressed([row, column], moves), {
        class: moves.some(({ path }) => path.length > 1 && String(path[0]) === cell) ? "press source" : "press",
        "aria-pressed": String(chosen) === cell ? "true" : null,
      });
    }
    if (editing) {
      view.rows.forEach((cells, row) => [...cells].forEach((_, column) => {
        if (!view.dark || (row + column) % 2) button(svg, row, column, named(row, column), () => play([row, column]));
      }));
    }
    if (won.size) {
      const [from, to] = [view.line[0], view.line.at(-1)].map((cell) => cell.map((at) => at * CELL + CELL / 2));
      svg.append(shape("path", { class: "won-line", d: `M${from[1]} ${from[0]}L${to[1]} ${to[0]}` }));
    }
    for (const [row, column] of hints) {
      svg.append(shape("circle", { class: threat ? "hint threat" : "hint", cx: column * CELL + 5, cy: row * CELL + 5, r: 3 }));
    }
  }

  /** Return the name of a cell with its piece. */
  function named(row, column) {
    const sign = view.rows[row][column];
    const piece = men[sign] ? say(men[sign]) : /[. ]/.test(sign) ? "" : sign;
    return [`${say("row")} ${row + 1}, ${say("column")} ${column + 1}`, piece].filter(Boolean).join(": ");
  }

  /** Return the playable cells with their moves. */
  function pressable() {
    const cells = new Map();
    const add = (cell, move) => cells.set(String(cell), [...(cells.get(String(cell)) ?? []), move]);
    for (const move of (movable && view.legal) || []) {
      if (!move.path.length) continue;
      const first = move.path[0];
      if (chosen && String(first) === String(chosen)) add(move.path.at(-1), move);
      add(first, move);
      // In games with gravity, any cell of a column plays its lowest free cell.
      if (view.falls && move.path.length === 1) {
        for (let row = 0; row < first[0]; row++) {
          if (view.rows[row][first[1]] === ".") add([row, first[1]], move);
        }
      }
    }
    return cells;
  }

  function pressed(cell, moves) {
    const done = moves.find((move) => (move.path.length === 1)
      || (chosen && String(move.path[0]) === String(chosen)
        && String(move.path.at(-1)) === String(cell)));
    if (done) {
      play(done.text);
      return;
    }
    chosen = String(chosen) === String(cell) ? null : cell;
    draw();
    buttonAt(svg, { row: cell[0], column: cell[1] })?.focus();
  }

  draw();
  replace(holder, svg);
}
