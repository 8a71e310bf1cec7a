// What the players have captured, and the material balance.

const ROLES = ["queen", "rook", "bishop", "knight", "pawn"];
const LETTERS = { queen: "q", rook: "r", bishop: "b", knight: "n", pawn: "p" };
const FIGURES = { queen: "♛", rook: "♜", bishop: "♝", knight: "♞", pawn: "♟" };
const VALUES = { queen: 9, rook: 5, bishop: 3, knight: 3, pawn: 1 };

/** Count the pieces of a colour in a FEN, by role. */
function pieces(fen, colour) {
  const [placement] = fen.split(" ");
  const count = (letter) => placement.split(colour === "white" ? letter.toUpperCase() : letter).length - 1;
  return Object.fromEntries(ROLES.map((role) => [role, count(LETTERS[role])]));
}

/**
 * Return the pieces that a colour has captured: their number by role, their figures, and how many
 * points of material the colour is ahead.
 */
export function captures({ start, fen }, colour) {
  const other = colour === "white" ? "black" : "white";
  const [before, now] = [pieces(start, other), pieces(fen, other)];
  const taken = Object.fromEntries(ROLES.map((role) => [role, Math.max(0, before[role] - now[role])]));
  // A promoted pawn has not been captured.
  for (const role of ROLES.slice(0, -1)) taken.pawn -= Math.max(0, now[role] - before[role]);
  taken.pawn = Math.max(0, taken.pawn);
  const value = (counts) => ROLES.reduce((sum, role) => sum + VALUES[role] * counts[role], 0);
  return {
    taken,
    figures: ROLES.map((role) => FIGURES[role].repeat(taken[role])).join(""),
    ahead: value(pieces(fen, colour)) - value(now),
  };
}

/** Count the stones or men of a colour on a board of squares. */
export function onBoard(rows, colour) {
  const signs = colour === "white" ? "OwW" : "XbB";
  return rows.join("").split("").filter((sign) => signs.includes(sign)).length;
}
