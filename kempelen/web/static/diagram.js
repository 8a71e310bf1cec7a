// Draws positions of chess and Go, and boards of other games from their text form.

import { squareBoard } from "./gridboard.js";
import { element, shape } from "./site.js";

const SQUARE = 45;
const FILES = "abcdefgh";
const COLUMNS = "ABCDEFGHJKLMNOPQRSTUVWXYZ";
const SHADES = 20;
let pieces;

/** Add the chess pieces to the page, once. */
function loadPieces() {
  pieces ??= fetch("/watch/pieces.svg").then((answer) => answer.text()).then((text) => {
    const drawn = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
    drawn.classList.add("pieces");
    drawn.setAttribute("aria-hidden", "true");
    document.body.append(document.importNode(drawn, true));
  });
  return pieces;
}

/**
 * Create a board. onPick receives the name of a clicked square or point. show(drawing, more) draws
 * a position. `more` may contain arrows (pairs of squares, or Go points), owners (ownership of Go
 * points, rows from the top), flipped, and a label for screen readers.
 */
export function diagram(onPick) {
  const node = element("div", { class: "diagram" });
  let kind = "";
  let place = () => "";

  node.addEventListener("click", (event) => {
    const drawn = node.querySelector("svg");
    if (!onPick || !drawn) return;
    const box = drawn.getBoundingClientRect();
    const found = place((event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height);
    if (found) onPick(found);
  });

  function show(drawing, more = {}) {
    kind = drawing?.type ?? "";
    let made;
    let label = more.label ?? kind;
    if (kind === "chess") {
      loadPieces();
      made = chess(drawing, more);
      place = (x, y) => {
        const column = Math.floor(x * 8), row = Math.floor(y * 8);
        if (column < 0 || column > 7 || row < 0 || row > 7) return "";
        return more.flipped ? FILES[7 - column] + (row + 1) : FILES[column] + (8 - row);
      };
    } else if (kind === "go") {
      made = go(drawing, more);
      const [width, height] = edges(drawing);
      place = (x, y) => {
        const column = Math.floor(x * (width + 1) - 0.5), row = Math.floor(y * (height + 1) - 0.5);
        if (column < 0 || column >= width || row < 0 || row >= height) return "";
        return COLUMNS[column] + (height - row);
      };
    } else if (kind === "grid") {
      squareBoard(node, { last: [], ...drawing, legal: [] }, false, (key) => key);
      made = node.firstElementChild;
      label = `${label} ${drawing.rows.join(" / ")}`;
      place = () => "";
    } else {
      made = element("pre", { tabindex: "0" }, drawing?.text ?? "");
      place = () => "";
    }
    if (made.localName === "svg") {
      made.setAttribute("role", "img");
      made.setAttribute("aria-label", label);
    }
    node.replaceChildren(made);
  }

  return { node, show };
}

function chess(drawing, { arrows = [], flipped = false, chosen = "" }) {
  const drawn = shape("svg", { viewBox: "0 0 360 360" });
  const at = (square) => {
    const column = FILES.indexOf(square[0]), row = 8 - Number(square[1]);
    return flipped ? [7 - column, 7 - row] : [column, row];
  };
  for (let row = 0; row < 8; row += 1) {
    for (let column = 0; column < 8; column += 1) {
      drawn.append(shape("rect", {
        x: column * SQUARE, y: row * SQUARE, width: SQUARE, height: SQUARE,
        class: (row + column) % 2 ? "dark" : "light",
      }));
    }
  }
  for (const square of [...(drawing.last ?? []), ...(chosen ? [chosen] : [])]) {
    if (!/^[a-h][1-8]$/.test(square)) continue;
    const [column, row] = at(square);
    drawn.append(shape("rect", {
      x: column * SQUARE, y: row * SQUARE, width: SQUARE, height: SQUARE, class: "last",
    }));
  }
  for (let place = 0; place < 8; place += 1) {
    const file = flipped ? FILES[7 - place] : FILES[place];
    const rank = flipped ? place + 1 : 8 - place;
    drawn.append(shape("text", { x: place * SQUARE + 37, y: 357, class: "coordinate" }, file));
    drawn.append(shape("text", { x: 2, y: place * SQUARE + 11, class: "coordinate" }, String(rank)));
  }
  let row = 0, column = 0;
  for (const sign of drawing.fen.split(" ")[0]) {
    if (sign === "/") { row += 1; column = 0; continue; }
    if (/\d/.test(sign)) { column += Number(sign); continue; }
    const name = (sign === sign.toUpperCase() ? "w" : "b") + sign.toUpperCase();
    const [x, y] = flipped ? [7 - column, 7 - row] : [column, row];
    drawn.append(shape("use", {
      href: `#${name}`, x: x * SQUARE, y: y * SQUARE, width: SQUARE, height: SQUARE,
    }));
    column += 1;
  }
  arrows.forEach(([from, to], rank) => {
    if (from && to) drawn.append(arrow(at(from), at(to), rank));
  });
  return drawn;
}

function arrow([x1, y1], [x2, y2], rank) {
  const middle = (value) => value * SQUARE + SQUARE / 2;
  const [ax, ay, bx, by] = [middle(x1), middle(y1), middle(x2), middle(y2)];
  const length = Math.hypot(bx - ax, by - ay) || 1;
  const [ux, uy] = [(bx - ax) / length, (by - ay) / length];
  const [ex, ey] = [bx - ux * 14, by - uy * 14];
  const group = shape("g", { class: `arrow rank${rank}` });
  group.append(
    shape("line", { x1: ax, y1: ay, x2: ex, y2: ey }),
    shape("polygon", {
      points: `${bx},${by} ${ex - uy * 9},${ey + ux * 9} ${ex + uy * 9},${ey - ux * 9}`,
    }),
  );
  return group;
}

const STARS = { 9: [2, 4, 6], 13: [3, 6, 9], 19: [3, 9, 15] };

/** Return the numbers of columns and rows of a Go board. */
function edges({ rows }) {
  return [rows[0]?.length ?? 0, rows.length];
}

function go(drawing, { arrows = [], owners = [] }) {
  const [width, height] = edges(drawing);
  const drawn = shape("svg", { viewBox: `0 0 ${width + 1} ${height + 1}` });
  drawn.append(shape("rect", { x: 0, y: 0, width: width + 1, height: height + 1, class: "wood" }));
  for (let place = 1; place <= width; place += 1) {
    drawn.append(
      shape("line", { x1: place, y1: 1, x2: place, y2: height, class: "ruling" }),
      shape("text", { x: place, y: height + 0.9, class: "name" }, COLUMNS[place - 1]),
    );
  }
  for (let place = 1; place <= height; place += 1) {
    drawn.append(
      shape("line", { x1: 1, y1: place, x2: width, y2: place, class: "ruling" }),
      shape("text", { x: 0.3, y: place + 0.12, class: "name" }, String(height - place + 1)),
    );
  }
  for (const row of STARS[height] ?? []) {
    for (const column of STARS[width] ?? []) {
      drawn.append(shape("circle", { cx: column + 1, cy: row + 1, r: 0.1, class: "star" }));
    }
  }
  const at = (point) => [COLUMNS.indexOf(point[0]) + 1, height - Number(point.slice(1)) + 1];
  drawing.rows.forEach((row, y) => [...row].forEach((sign, x) => {
    if (sign === "X" || sign === "O") {
      drawn.append(shape("circle", {
        cx: x + 1, cy: y + 1, r: 0.47, class: sign === "X" ? "black" : "white",
      }));
    }
    const owner = owners[y * width + x] ?? 0;
    if (Math.abs(owner) >= 1 / SHADES) {
      drawn.append(shape("rect", {
        x: x + 0.8, y: y + 0.8, width: 0.4, height: 0.4,
        class: owner > 0 ? "own black" : "own white", "fill-opacity": Math.abs(owner).toFixed(2),
      }));
    }
  }));
  for (const point of drawing.last ?? []) {
    if (/^[A-Z]\d+$/.test(point)) {
      const [x, y] = at(point);
      drawn.append(shape("circle", { cx: x, cy: y, r: 0.22, class: "last" }));
    }
  }
  arrows.forEach(([point], rank) => {
    if (/^[A-Z]\d+$/.test(point ?? "")) {
      const [x, y] = at(point);
      drawn.append(shape("circle", { cx: x, cy: y, r: 0.36, class: `hint rank${rank}` }));
    }
  });
  return drawn;
}

/** Return a move with its number. before: the position before it; place: its index, from 0. */
export function numbered(before, move, place) {
  const [, turn, , , , number] = (before.fen ?? "").split(" ");
  if (!number) return `${place + 1}. ${move}`;
  return turn === "w" ? `${number}. ${move}` : place ? move : `${number}... ${move}`;
}

/** Create the evaluation bar. show(share) sets the first player's expected score, 0 to 1. */
export function bar(game) {
  const own = shape("rect", { x: 0, width: 10, class: game === "go" ? "black" : "white" });
  const drawn = shape("svg", {
    viewBox: "0 0 10 100", preserveAspectRatio: "none", role: "img", class: `bar ${game}`,
  }, own);
  function show(share, label) {
    const height = Math.round((share ?? 0.5) * 1000) / 10;
    own.setAttribute("y", 100 - height);
    own.setAttribute("height", height);
    drawn.setAttribute("aria-label", label);
  }
  show(null, "");
  return { node: drawn, show };
}

/** Return a rounded number with its sign. Zero has none. */
export function signed(value, digits) {
  const text = value.toFixed(digits), rounded = Number(text);
  return rounded > 0 ? `+${text}` : rounded < 0 ? text : text.replace("-", "");
}

/** Return an evaluation as text, from the first player's point of view. */
export function scoreText({ cp, mate, lead, expected } = {}) {
  if (mate != null) return `#${mate}`;
  if (lead != null) return signed(lead, 1);
  if (cp != null) return signed(cp / 100, 2);
  return expected == null ? "" : `${Math.round(expected * 100)} %`;
}
