// Arrows and circles on SVG boards, drawn with the right mouse button as on a chess board, on which
// chessground draws them. Shift or Ctrl, Alt, and both together choose the other colours.

import { pointOn } from "./drag.js";
import { shape } from "./site.js";

const COLOURS = ["green", "red", "blue", "yellow"];
const HEAD = 4;

/** Let the visitor draw on the SVG boards in a node. Returns show(position), which is called after each drawing. */
export function marks(node) {
  let drawn = []; // from, to: [x, y] of the middles of cells; colour
  let draft = null;
  let shown = "";

  const board = () => node.querySelector("svg.grid");

  /** Return the middle of the cell below the pointer, in the units of the drawing, or null. */
  function cellAt(svg, event) {
    const [right, down] = pointOn(svg, event);
    const [w, h, columns, rows] = svg.dataset.cells.split(" ").map(Number);
    const [column, row] = [Math.floor(right / w), Math.floor(down / h)];
    return column >= 0 && row >= 0 && column < columns && row < rows ? [(column + 0.5) * w, (row + 0.5) * h] : null;
  }

  function figure({ from: [x, y], to: [right, down], colour }) {
    if (x === right && y === down) return shape("circle", { class: colour, cx: x, cy: y, r: 4.4 });
    const long = Math.hypot(right - x, down - y), [dx, dy] = [(right - x) / long, (down - y) / long];
    const [baseX, baseY] = [right - HEAD * dx, down - HEAD * dy];
    return shape("g", { class: colour },
      shape("line", { x1: x, y1: y, x2: baseX, y2: baseY }),
      shape("polygon", { points: `${right},${down} ${baseX - 2 * dy},${baseY + 2 * dx} ${baseX + 2 * dy},${baseY - 2 * dx}` }));
  }

  function paint() {
    node.querySelector("svg.grid .marks")?.remove();
    const all = draft?.to ? [...drawn, draft] : drawn;
    if (all.length) board()?.append(shape("g", { class: "marks", "aria-hidden": "true" }, ...all.map(figure)));
  }

  node.addEventListener("contextmenu", (event) => {
    if (board()) event.preventDefault();
  });
  node.addEventListener("pointerdown", (event) => {
    const svg = board();
    if (!svg) return;
    if (event.button === 2) {
      const from = cellAt(svg, event);
      const colour = COLOURS[(event.shiftKey || event.ctrlKey) + 2 * (event.altKey || event.metaKey)];
      draft = from && { from, to: from, colour };
    } else {
      drawn = [];
      draft = null;
    }
    paint();
  });
  addEventListener("pointermove", (event) => {
    if (!draft || !board()) return;
    draft.to = cellAt(board(), event);
    paint();
  });
  addEventListener("pointerup", (event) => {
    if (!draft || event.button !== 2) return;
    const added = draft;
    draft = null;
    if (added.to) {
      const same = drawn.find((each) => String([each.from, each.to]) === String([added.from, added.to]));
      drawn = drawn.filter((each) => each !== same);
      if (same?.colour !== added.colour) drawn.push(added);
    }
    paint();
  });

  return (position) => {
    if (position !== shown) drawn = [];
    shown = position;
    paint();
  };
}
