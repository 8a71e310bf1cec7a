// A chess board, drawn by chessground. The server sends the legal moves.

import { Chessground } from "./vendor/chessground/chessground.min.js";
import { element } from "./site.js";

const CASTLING = { e1h1: "g1", e1a1: "c1", e8h8: "g8", e8a8: "c8" };

/** Return the destination squares of each piece, and the UCI moves to them. */
function destinations(legal) {
  const found = new Map();
  for (const move of legal) {
    const from = move.slice(0, 2);
    if (!found.has(from)) found.set(from, []);
    if (!found.get(from).includes(move.slice(2, 4))) found.get(from).push(move.slice(2, 4));
  }
  return found;
}

/** Create a board that calls play(move) with a UCI move. */
export function chessBoard(play, choose) {
  const holder = element("div", { class: "chess" });
  const ground = Chessground(holder, {
    animation: { duration: 150 },
    draggable: { showGhost: true },
    disableContextMenu: true,
    coordinates: true,
  });
  let legal = [];

  async function moved(from, to) {
    const moves = legal.filter((move) => move.startsWith(from + to));
    if (moves.length > 1) play(from + to + (await choose(moves.map((move) => move[4]))));
    else if (moves.length === 1) play(moves[0]);
  }

  return {
    node: holder,
    /** Show a position. own: the colour that the visitor may move now, if any. */
    show(view, own, orientation) {
      legal = own ? view.legal : [];
      ground.set({
        fen: view.fen,
        orientation,
        check: view.check,
        lastMove: view.last,
        turnColor: view.fen.split(" ")[1] === "w" ? "white" : "black",
        viewOnly: !own,
        movable: {
          free: false,
          color: own || undefined,
          dests: destinations(legal),
          showDests: true,
          events: { after: moved },
        },
      });
      ground.setAutoShapes([]);
    },
    hint(move) {
      const to = CASTLING[move] ?? move.slice(2, 4);
      ground.setAutoShapes([{ orig: move.slice(0, 2), dest: to, brush: "green" }]);
    },
  };
}
