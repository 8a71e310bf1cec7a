// Positions of Go as SGF, without moves.

const LETTERS = "abcdefghijklmnopqrstuvwxy";

/** Return a position. rows: from the top, with X for black stones; player: B or W, to move. */
export function sgfOf(rows, player) {
  const size = rows.length === rows[0].length ? rows.length : `${rows[0].length}:${rows.length}`;
  const stones = [["AB", "X"], ["AW", "O"]].map(([property, sign]) => {
    const points = rows.flatMap((cells, row) => [...cells].flatMap((cell, column) =>
      (cell === sign ? [`[${LETTERS[column]}${LETTERS[row]}]`] : [])));
    return points.length ? property + points.join("") : "";
  });
  return `(;GM[1]FF[4]SZ[${size}]PL[${player}]${stones.join("")})`;
}

/** Return the rows and the player of a position from sgfOf. Throws an Error for another text. */
export function stonesOf(sgf) {
  const [, columns, rows, player, rest] =
    /^\(;GM\[1\]FF\[4\]SZ\[(\d+)(?::(\d+))?\]PL\[([BW])\]((?:A[BW](?:\[[a-y][a-y]\])+)*)\)$/.exec(sgf) ?? [];
  if (!columns) throw new Error("unknown position");
  const [width, height] = [Number(columns), Number(rows ?? columns)];
  const cells = Array.from({ length: height }, () => Array(width).fill("."));
  for (const [, sign, points] of rest.matchAll(/A([BW])((?:\[[a-y][a-y]\])+)/g)) {
    for (const [, column, row] of points.matchAll(/\[(.)(.)\]/g)) {
      const line = cells[LETTERS.indexOf(row)], place = LETTERS.indexOf(column);
      if (!line || place >= width) throw new Error("unknown position");
      line[place] = sign === "B" ? "X" : "O";
    }
  }
  return { rows: cells.map((line) => line.join("")), player };
}
