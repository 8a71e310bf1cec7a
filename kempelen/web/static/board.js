// The board of all pages: draws a position of any game, and lets the visitor move.

import { dragging } from "./drag.js";
import { goBoard, squareBoard } from "./gridboard.js";
import { marks } from "./marks.js";
import { element, words } from "./site.js";

const say = await words("board");
const MODULES = { // loaded when needed
  chess: async () => (await import("./chessboard.js")).chessBoard,
  backgammon: async () => (await import("./backgammon.js")).backgammonBoard,
};

/**
 * Create a board. play(move) is called with the visitor's move, and refuse(text) if the visitor
 * presses a place where no move is possible.
 *
 * show(view, options) draws a position. Options:
 * - movable: the colour that the visitor moves in chess, or "both"; in other games, whether the
 *   visitor may move.
 * - orientation: the colour at the bottom of a chess board.
 * - variant: the variant of chess.
 * - flipped: whether to turn the board round.
 * - hints: suggested moves, best first: pairs of squares, Go points, or cells.
 * - threat: whether the hints are threats.
 * - ranked: whether suggested Go points are numbered.
 * - owners: the ownership of each Go point, rows from the top.
 * - label: the position for screen readers.
 */
export function createBoard(play, refuse = () => {}) {
  const node = element("div", { class: "board-view" });
  const showMarks = marks(node);
  dragging(node);
  const drawn = {}; // boards that keep a state, by game
  let latest = 0;

  async function show(view, options = {}) {
    latest += 1;
    const number = latest, kind = view.kind ?? view.type;
    node.dataset.kind = kind;
    if (kind in MODULES) {
      if (!drawn[kind]) {
        const create = await MODULES[kind]();
        drawn[kind] ??= create(say, play);
      }
      if (number !== latest) return;
      if (drawn[kind].node.parentNode !== node) node.replaceChildren(drawn[kind].node);
      drawn[kind].show(view, options);
    } else if (kind === "go") {
      goBoard(node, view, options, say, play, refuse);
    } else if (kind === "grid") {
      // A board without buttons is described by its rows.
      const label = options.movable ? options.label : `${options.label ?? ""} ${view.rows.join(" / ")}`;
      squareBoard(node, view, { ...options, label }, say, play, refuse);
    } else {
      node.replaceChildren(element("pre", { class: "position", tabindex: 0, "aria-label": say("position") },
        inWords(view)));
    }
    showMarks(JSON.stringify(view.rows ?? view.men));
  }

  return { node, show };
}

/** Return a position in words. */
function inWords(view) {
  if (view.kind === "pig") {
    return [...view.scores.map((score, player) => say("points of", { player: view.players[player], score })),
      say("in this turn", { points: view.rolled })].join("\n");
  }
  return view.position ?? view.text ?? "";
}
