// Puzzles: the positions of a reviewed game in which a player erred.

import { gameTo, lineFrom } from "./tree.js";

const GRADES = ["mistake", "blunder"]; // a review verifies these

/** Return the reviewed moves of a player that are mistakes. side: the number of the player. */
export function mistakes(review, side) {
  return (review?.finished ? review.moves : []).filter((move) =>
    move.player === side && GRADES.includes(move.grade) && move.line.length);
}

/** Return the mistakes of a player as puzzles. study: the id of the saved games; which: the game. */
export function puzzlesOf(game, side, study, which) {
  const line = lineFrom(game.root);
  return mistakes(game.review, side).map((judged) => {
    const ply = game.review.moves.indexOf(judged);
    const { parent, children, ply: at, was, comment, nags, opening, legal, setup, ...view } = line[ply];
    const position = gameTo(game, line[ply]);
    return {
      id: JSON.stringify([position, line[ply + 1].played]),
      state: "new", // or "solved", "failed"
      title: game.players.some((name) => name !== "?") ? game.players.join(" – ") : "",
      game: position,
      ply,
      side,
      view,
      played: line[ply + 1].played,
      move: line[ply + 1].move,
      loss: judged.loss,
      grade: judged.grade,
      best: judged.best,
      line: judged.line,
      source: `/analyse?study=${study}#${which ? `${which}.` : ""}${ply}`,
    };
  });
}
