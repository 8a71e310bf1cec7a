// A chess board, drawn by chessground. The server sends the legal moves.

import { Chessground } from "./vendor/chessground/chessground.min.js";
import { pliesBefore } from "./notation.js";
import { element } from "./site.js";

const CASTLING = { e1h1: "g1", e1a1: "c1", e8h8: "g8", e8a8: "c8" };
const FILES = "abcdefgh";
const ROLES = { q: "queen", r: "rook", b: "bishop", n: "knight", p: "pawn", k: "king" };
const POCKET_PIECES = "qrbnp"; // in crazyhouse
// The squares that a king must reach, by variant.
const GOALS = {
  kingofthehill: ["d4", "e4", "d5", "e5"],
  racingkings: [...FILES].map((file) => `${file}8`),
};
const BRUSHES = ["green", "paleBlue", "paleGrey"];

/** Return the destination squares of each piece, and the UCI moves to them. */
function destinations(legal) {
  const found = new Map();
  for (const move of legal) {
    if (move[1] === "@") continue;
    const from = move.slice(0, 2);
    if (!found.has(from)) found.set(from, []);
    if (!found.get(from).includes(move.slice(2, 4))) found.get(from).push(move.slice(2, 4));
  }
  return found;
}

/** Create a board that calls play(move) with a UCI move. */
export function chessBoard(say, play) {
  const holder = element("div", { class: "chess" });
  const frame = element("div", { class: "chess-frame" }, holder);
  const pockets = ["top", "bottom"].map((place) => element("div", { class: `pocket cg-wrap ${place}`, hidden: true }));
  const node = element("div", { class: "chess-view" }, pockets[0], frame, pockets[1]);
  const ground = Chessground(holder, {
    animation: { enabled: !matchMedia("(prefers-reduced-motion: reduce)").matches, duration: 150 },
    draggable: { showGhost: true },
    disableContextMenu: true,
    coordinates: true,
    movable: { free: false, events: { after: moved, afterNewPiece: dropped } },
    events: { select: drop },
  });
  // Its filter is not used here, and would have the same id on each board of a page.
  holder.querySelector("#cg-filter-blur")?.remove();
  let view = null;
  let options = {};
  let shown = "";
  let ply = 0;
  let hand = ""; // the piece of a pocket that the next pressed square gets, such as N
  let cancel = () => {}; // closes the choice of a piece

  holder.addEventListener("pointerdown", (event) => {
    // Chessground keeps where the board is, until the window is scrolled or resized. A longer text
    // above the board moves it too.
    ground.state.dom.bounds.clear();
    // Chessground clears the visitor's arrows itself, but not on a board without moves.
    if (event.button === 0 && !options.movable) ground.setShapes([]);
  });

  async function moved(from, to, { premove }) {
    const moves = (view.legal ?? []).filter((move) => move.startsWith(from + to));
    if (moves.length < 2) {
      if (moves.length) play(moves[0]);
      return;
    }
    const piece = premove ? "q" : await choose(to, moves.map((move) => move[4]));
    if (piece) play(from + to + piece);
    else draw(); // puts the pawn back
  }

  /** Ask on the board which piece a pawn becomes. Resolves to null if that is cancelled. */
  function choose(to, pieces) {
    const flipped = bottom() === "black";
    const colour = to[1] === "8" ? "white" : "black";
    const column = FILES.indexOf(to[0]);
    return new Promise((resolve) => {
      const menu = element("div", { class: "promotion cg-wrap", role: "group", "aria-label": say("promotion") },
        ...pieces.map((piece) => element("button", {
          type: "button", "data-piece": piece, "aria-label": say(`piece ${piece}`),
          title: say(`piece ${piece}`), onclick: () => close(piece),
        }, element("piece", { class: `${ROLES[piece]} ${colour}` }))));
      const close = (piece) => {
        menu.remove();
        removeEventListener("pointerdown", outside, true);
        removeEventListener("keydown", escape, true);
        cancel = () => {};
        resolve(piece);
      };
      const outside = (event) => { if (!menu.contains(event.target)) close(null); };
      const escape = (event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        close(null);
      };
      cancel = () => close(null);
      menu.style.left = `${12.5 * (flipped ? 7 - column : column)}%`;
      menu.classList.toggle("at-bottom", (to[1] === "1") !== flipped);
      addEventListener("pointerdown", outside, true);
      addEventListener("keydown", escape, true);
      frame.append(menu);
      menu.querySelector("button").focus();
    });
  }

  /** Return the colour at the bottom of the board. */
  const bottom = () => ((options.orientation === "black") !== Boolean(options.flipped) ? "black" : "white");

  /** Drop the piece in hand on a square. */
  function drop(square) {
    const move = `${hand}@${square}`;
    if (!hand) return;
    take("");
    if (view.legal?.includes(move)) play(move);
  }

  /** Play a drop that the visitor has dragged from a pocket. */
  function dropped(role, square) {
    const piece = Object.keys(ROLES).find((letter) => ROLES[letter] === role);
    const move = `${piece.toUpperCase()}@${square}`;
    if (view.legal?.includes(move)) play(move);
    else draw(); // takes the piece off the board
  }

  /** Take a piece of a pocket in hand, or put it back. */
  function take(piece) {
    hand = piece;
    for (const button of node.querySelectorAll(".pocket button")) {
      button.setAttribute("aria-pressed", hand !== "" && button.dataset.drop === hand && !button.disabled);
    }
    const goals = (GOALS[options.variant] ?? []).map((square) => [square, "goal-square"]);
    const squares = (view.legal ?? []).filter((move) => hand && move.startsWith(`${hand}@`))
      .map((move) => [move.slice(2), "drop-square"]);
    ground.set({ highlight: { custom: new Map([...goals, ...squares]) } });
  }

  /** Draw the pockets of crazyhouse, or the remaining checks of three-check. */
  function drawPockets() {
    const pieces = /\[(.*)\]/.exec(view.fen)?.[1];
    const checks = /(\d)\+(\d)/.exec(view.fen);
    pockets.forEach((pocket, place) => {
      const white = (bottom() === "white") === (place === 1);
      pocket.hidden = pieces === undefined && !checks;
      if (checks) {
        pocket.replaceChildren(say("checks left", { n: checks[white ? 1 : 2] }));
        return;
      }
      const own = [...(pieces ?? "")].filter((piece) => (piece < "a") === white)
        .map((piece) => piece.toLowerCase());
      pocket.replaceChildren(...[...POCKET_PIECES].filter((piece) => own.includes(piece)).map((piece) => {
        const letter = piece.toUpperCase();
        const count = own.filter((each) => each === piece).length;
        const enabled = [white ? "white" : "black", "both"].includes(options.movable)
          && (view.legal ?? []).some((move) => move.startsWith(`${letter}@`))
          && (view.fen.split(" ")[1] === "w") === white;
        const color = white ? "white" : "black";
        const drag = (event) => enabled && ground.dragNewPiece({ color, role: ROLES[piece] }, event);
        const made = element("button", {
          type: "button", "data-drop": letter, disabled: !enabled, "aria-pressed": "false",
          "aria-label": say("drop", { piece: say(`piece ${piece}`), n: count }),
          onclick: () => take(hand === letter ? "" : letter),
        }, element("piece", { class: `${ROLES[piece]} ${color}` }), String(count));
        made.addEventListener("mousedown", drag);
        made.addEventListener("touchstart", drag, { passive: true });
        return made;
      }));
    });
  }

  function draw() {
    const turnColor = view.fen.split(" ")[1] === "w" ? "white" : "black";
    const before = ply;
    ply = pliesBefore(view.fen);
    const movable = options.movable || undefined;
    ground.set({
      fen: view.fen,
      orientation: bottom(),
      check: view.check ?? false,
      lastMove: view.last?.length ? view.last : undefined,
      turnColor,
      viewOnly: !movable,
      premovable: { enabled: movable !== "both" },
      movable: { color: movable, dests: destinations(movable ? view.legal ?? [] : []), showDests: true },
    });
    take("");
    drawPockets();
    // A premove waits for one move of the opponent, and is forgotten after a takeback.
    if (!movable || ![before, before + 1].includes(ply)) ground.cancelPremove();
    else if (movable === turnColor) ground.playPremove();
  }

  return {
    node,
    /**
     * Show a position. movable: the colour that the visitor moves, "both", or "". When it is not
     * its turn, a move of that colour is played as soon as it is. hints: pairs of squares. variant: the
     * variant of chess, whose goal is marked.
     */
    show(position, given = {}) {
      view = position;
      options = given;
      holder.setAttribute("role", "img");
      holder.setAttribute("aria-label", given.label ?? view.fen);
      // On a hidden board, the ends of arrows would not be numbers. Chessground draws them later, when
      // the board gets its size.
      const hidden = !holder.clientWidth;
      if (hidden) ground.state.drawable.autoShapes = [];
      const drawn = JSON.stringify([view.fen, view.legal, view.last, view.check, given.movable, bottom(), given.variant]);
      if (drawn !== shown || given.again) {
        cancel();
        shown = drawn;
        draw();
      }
      const arrows = (given.hints ?? []).filter(([from]) => from).map(([from, to], rank) =>
        ({ orig: from, dest: from === to ? undefined : CASTLING[from + to] ?? to,
          brush: given.threat ? "red" : BRUSHES[Math.min(rank, 2)] }));
      if (hidden) ground.state.drawable.autoShapes = arrows;
      else ground.setAutoShapes(arrows);
    },
  };
}
