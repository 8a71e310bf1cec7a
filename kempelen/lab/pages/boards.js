/* Boards drawn on a canvas. */
"use strict";

Kempelen.PIECES = { K: "♔", Q: "♕", R: "♖", B: "♗", N: "♘", P: "♙", k: "♚", q: "♛", r: "♜", b: "♝", n: "♞", p: "♟" };
Kempelen.DICE = ["", "⚀", "⚁", "⚂", "⚃", "⚄", "⚅"];

Kempelen.drawBoard = function (context, board, left, top, size) {
  if (board.look === "heaps") return Kempelen.drawHeaps(context, board.heaps, left, top, size);
  if (board.look === "pig") {
    const turn = board.rolling ? "?" : `+${board.rolled}`;
    const lines = [`${board.player === 0 ? "▸" : ""}${board.scores[0]} : ${board.scores[1]}${board.player === 1 ? "◂" : ""}`, turn];
    return Kempelen.drawLines(context, lines, left, top, size);
  }
  if (board.look === "text") return Kempelen.drawLines(context, board.lines, left, top, size);
  const rows = board.rows;
  const side = size / Math.max(rows.length, rows[0].length);
  const offsetX = left + (size - side * rows[0].length) / 2;
  const offsetY = top + (size - side * rows.length) / 2;
  const look = board.look;
  context.fillStyle = { holes: "#2563eb", discs: "#15803d", stones: "#e0b877" }[look] || "#ffffff";
  context.fillRect(offsetX, offsetY, side * rows[0].length, side * rows.length);
  context.strokeStyle = "#94a3b8";
  context.lineWidth = 0.5;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.font = `${side * 0.9}px sans-serif`;
  rows.forEach((row, y) => {
    [...row].forEach((sign, x) => {
      const atX = offsetX + side * x;
      const atY = offsetY + side * y;
      if ((look === "pieces" || look === "men") && (x + y) % 2) {
        context.fillStyle = "#d9c7a7";
        context.fillRect(atX, atY, side, side);
      }
      if (look === "marks" || look === "discs") context.strokeRect(atX, atY, side, side);
      if (sign === " " || (sign === "." && look !== "holes")) return;
      if (look === "marks" || look === "pieces") {
        context.fillStyle = "#1f2933";
        context.fillText(Kempelen.PIECES[sign] && look === "pieces" ? Kempelen.PIECES[sign] : sign, atX + side / 2, atY + side / 2);
        return;
      }
      const fills = look === "holes" ? { X: "#facc15", O: "#dc2626", ".": "#ffffff" } : { X: "#111827", b: "#111827", B: "#111827" };
      context.beginPath();
      context.arc(atX + side / 2, atY + side / 2, side * 0.4, 0, 2 * Math.PI);
      context.fillStyle = fills[sign] || "#ffffff";
      context.fill();
      context.strokeStyle = "#475569";
      context.stroke();
      if (look === "men" && sign !== sign.toLowerCase()) {
        context.fillStyle = "#c2410c";
        context.fillText("+", atX + side / 2, atY + side / 2);
      }
    });
  });
};

Kempelen.drawHeaps = function (context, heaps, left, top, size) {
  const most = Math.max(5, ...heaps);
  const side = Math.min(size / most, size / Math.max(1, heaps.length));
  context.fillStyle = "#92400e";
  heaps.forEach((heap, column) => {
    for (let number = 0; number < heap; number += 1) {
      context.beginPath();
      context.arc(left + side * (column + 0.5), top + size - side * (number + 0.5), side * 0.4, 0, 2 * Math.PI);
      context.fill();
    }
  });
};

Kempelen.drawLines = function (context, lines, left, top, size) {
  const longest = Math.max(1, ...lines.map((line) => line.length));
  const height = Math.min(size / lines.length, (1.6 * size) / longest);
  context.fillStyle = "#1f2933";
  context.font = `${height * 0.9}px monospace`;
  context.textAlign = "left";
  context.textBaseline = "top";
  lines.forEach((line, number) => context.fillText(line, left, top + height * number));
};
