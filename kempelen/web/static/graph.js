// Graphs of games and tournaments.

import { firstColour } from "./notation.js";
import { shape } from "./site.js";

const WIDTH = 600;
const HEIGHT = 160;

/**
 * Create the evaluation graph of a game. start: the first player's expected score before the first
 * move. moves: with expected and grade. onPick receives the clicked ply, if it is given. titleOf returns the title of a bad move.
 */
export function course(game, start, moves, at, label, onPick, titleOf) {
  const drawn = shape("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img",
    "aria-label": label, class: `course ${firstColour(game)}`,
  });
  const x = (ply) => (moves.length ? (ply * WIDTH) / moves.length : 0);
  const y = (share) => (1 - share) * HEIGHT;
  const points = [start, ...moves.map((move) => move.expected)]
    .map((share, ply) => [ply, share]).filter(([, share]) => share != null);
  drawn.append(shape("rect", { x: 0, y: 0, width: WIDTH, height: HEIGHT, class: "second" }));
  if (points.length) {
    const line = points.map(([ply, share]) => `${x(ply).toFixed(1)},${y(share).toFixed(1)}`);
    const first = x(points[0][0]).toFixed(1), last = x(points.at(-1)[0]).toFixed(1);
    drawn.append(
      shape("polygon", {
        points: `${first},${HEIGHT} ${line.join(" ")} ${last},${HEIGHT}`, class: "first",
      }),
      shape("polyline", { points: line.join(" "), class: "line" }),
    );
  }
  drawn.append(shape("line", { x1: 0, x2: WIDTH, y1: HEIGHT / 2, y2: HEIGHT / 2, class: "even" }));
  moves.forEach((move, place) => {
    if (move.grade && move.expected != null) {
      drawn.append(shape("circle", {
        cx: x(place + 1), cy: Math.min(HEIGHT - 5, Math.max(5, y(move.expected))), r: 5,
        class: move.grade,
      }, shape("title", {}, titleOf(move))));
    }
  });
  drawn.append(shape("line", { x1: x(at), x2: x(at), y1: 0, y2: HEIGHT, class: "at" }));
  if (onPick) drawn.addEventListener("click", (event) => {
    const box = drawn.getBoundingClientRect();
    onPick(Math.round(((event.clientX - box.left) / box.width) * moves.length));
  });
  return drawn;
}

/** Return round values between two values, with their labels. */
function levels(low, high) {
  const least = (high - low) / 4 || 1;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= least * 0.999);
  const found = [];
  for (let n = Math.ceil(low / step); n * step <= high; n += 1) {
    found.push([n * step, String(Number((n * step).toPrecision(6)))]);
  }
  return found;
}

/**
 * Create a chart of values by games played. lines: one list per curve, with elements
 * [played, value, error or null]. bounds: values of horizontal lines, each with a label.
 */
export function curves(lines, bounds, label) {
  const all = lines.flat().filter(([, value]) => value != null);
  if (!all.length) return null;
  const most = Math.max(1, ...all.map(([played]) => played));
  const values = [...all.map(([, value]) => value), ...bounds.map(([value]) => value), 0];
  const low = Math.min(...values), high = Math.max(...values);
  const span = high - low || 1;
  const left = 44, bottom = 22, top = 8;
  // No wider than the page, so that its text is not scaled down on a phone.
  const width = Math.min(WIDTH, Math.max(280, document.getElementById("main").clientWidth - 32));
  const x = (played) => left + (played / most) * (width - left - 8);
  const y = (value) => top + (1 - (value - low) / span) * (HEIGHT - top - bottom);
  const drawn = shape("svg", {
    viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": label, class: "curves",
  });
  for (const [value, name] of bounds.length ? [[0, "0"], ...bounds] : levels(low, high)) {
    drawn.append(
      shape("line", { x1: left, x2: width - 8, y1: y(value), y2: y(value), class: "level" }),
      shape("text", { x: left - 4, y: y(value) + 4, class: "axis end" }, name),
    );
  }
  drawn.append(shape("text", { x: width - 8, y: HEIGHT - 5, class: "axis end" }, String(most)));
  drawn.append(shape("text", { x: left, y: HEIGHT - 5, class: "axis" }, "0"));
  lines.forEach((line, number) => {
    const known = line.filter(([, value]) => value != null);
    const band = known.filter(([, , error]) => error != null);
    if (band.length > 1 && lines.length <= 2) {
      const clip = (value) => y(Math.min(high, Math.max(low, value))).toFixed(1);
      const over = band.map(([played, value, error]) => `${x(played).toFixed(1)},${clip(value + error)}`);
      const under = band.map(([played, value, error]) => `${x(played).toFixed(1)},${clip(value - error)}`);
      drawn.append(shape("polygon", {
        points: [...over, ...under.reverse()].join(" "), class: `band colour${number % 6}`,
      }));
    }
    drawn.append(shape("polyline", {
      points: known.map(([played, value]) => `${x(played).toFixed(1)},${y(value).toFixed(1)}`).join(" "),
      class: `line colour${number % 6}`,
    }));
    if (known.length === 1) {
      drawn.append(shape("circle", {
        cx: x(known[0][0]), cy: y(known[0][1]), r: 3, class: `dot colour${number % 6}`,
      }));
    }
  });
  return drawn;
}
