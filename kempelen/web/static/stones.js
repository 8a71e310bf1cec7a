// Positions as text: those of Go as SGF without moves, and those of other board games.

const LETTERS = "abcdefghijklmnopqrstuvwxy";

/** Return a position of Go. rows: from the top, with X for black stones; side: B or W, to move. */
export function sgfOf(rows, side) {
  const size = rows.length === rows[0].length ? rows.length : `${rows[0].length}:${rows.length}`;
  const stones = [["AB", "X"], ["AW", "O"]].map(([property, sign]) => {
    const points = rows.flatMap((cells, row) => [...cells].flatMap((cell, column) =>
      (cell === sign ? [`[${LETTERS[column]}${LETTERS[row]}]`] : [])));
    return points.length ? property + points.join("") : "";
  });
  return `(;GM[1]FF[4]SZ[${size}]PL[${side}]${stones.join("")})`;
}

/** Return the rows and the side of a position from sgfOf. Throws an Error for another text. */
export function stonesOf(sgf) {
  const [, columns, rows, side, rest] =
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
  return { rows: cells.map((line) => line.join("")), side };
}

/** Return a position of a board game, as in agent/games/position_text.py. */
export function positionOf(rows, side) {
  return `${rows.map((row) => row.replace(/[. ]+/g, (empty) => empty.length)).join("/")} ${side}`;
}

/** Return the rows and the side of a position from positionOf. Throws an Error for another text. */
export function rowsOf(position) {
  const [placement, side, ...rest] = position.split(/\s+/);
  const rows = placement.split("/").map((row) => row.replace(/\d{1,2}/g, (count) => ".".repeat(Number(count))));
  if (!side || rest.length || !rows[0] || rows.some((row) => row.length !== rows[0].length)) throw new Error("unknown position");
  return { rows, side };
}
