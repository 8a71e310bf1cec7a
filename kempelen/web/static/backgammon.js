// A backgammon board. The visitor makes a play step by step: a man's point, then its destination.

import { button, drawing, replace } from "./gridboard.js";
import { element, shape } from "./site.js";

const BAR = 25;
const OFF = 0;
const WIDTH = 10;
const HEIGHT = 110;
const PIPS = { 1: [4], 2: [0, 8], 3: [0, 4, 8], 4: [0, 2, 6, 8], 5: [0, 2, 4, 6, 8], 6: [0, 2, 3, 5, 6, 8] };

/** Return the left edge and the row (0: top) of a point, as the player at the bottom counts them. */
function place(point) {
  const column = point > 12 ? point - 13 : 12 - point;
  return { x: WIDTH * (column + (column > 5)), row: point > 12 ? 0 : 1, column: column + (column > 5) };
}

/** Return the steps of a play without those that have been made, or null if these are not in it. */
function remaining(steps, made) {
  const left = steps.map(String);
  for (const step of made) {
    const at = left.indexOf(String(step));
    if (at < 0) return null;
    left.splice(at, 1);
  }
  return left.map((step) => step.split(",").map(Number));
}

export function backgammonBoard(say, play) {
  const holder = element("div", {});
  const back = element("button", { type: "button", hidden: true, onclick: () => restart() }, say("other play"));
  const node = element("div", { class: "backgammon" }, holder, back);
  let view = null, options = {}, made = [], chosen = null;

  function restart() {
    made = [];
    chosen = null;
    draw();
  }

  /** Return the men of both players after the steps that have been made. */
  function men() {
    const now = view.men.map((each) => [...each]);
    const [own, other] = [now[view.mover], now[1 - view.mover]];
    for (const [from, to] of made) {
      own[from] -= 1;
      own[to] += 1;
      if (to !== OFF && other[BAR - to]) {
        other[BAR - to] -= 1;
        other[BAR] += 1;
      }
    }
    return now;
  }

  /** Return the steps that can be made now. */
  function possible(own) {
    const plays = options.movable ? view.legal.map(({ steps }) => remaining(steps, made)) : [];
    return plays.filter(Boolean).flat().filter(([from]) => own[from] && (from === BAR || !own[BAR]));
  }

  function step(from, to) {
    made.push([from, to]);
    chosen = null;
    const whole = view.legal.find(({ steps }) => remaining(steps, made)?.length === 0);
    draw();
    if (whole) play(whole.text);
  }

  function draw() {
    const svg = drawing(11, 14, options.label ?? say("board"), 1);
    svg.classList.add("points");
    svg.dataset.cells = `${WIDTH} ${HEIGHT / 2} 14 2`;
    const now = men(), bottom = (view.bottom ?? 0) ^ Boolean(options.flipped);
    const steps = possible(now[view.mover] ?? []);
    const draft = (from, to) => (view.mover === bottom ? [from, to] : [BAR - from, BAR - to]);
    svg.append(shape("rect", { class: "cell", width: 14 * WIDTH, height: HEIGHT }),
      shape("rect", { class: "bar-cell", x: 6 * WIDTH, width: WIDTH, height: HEIGHT }),
      shape("rect", { class: "bar-cell", x: 13 * WIDTH, width: WIDTH, height: HEIGHT }));
    for (let point = 1; point < BAR; point += 1) {
      const { x, row } = place(point);
      const [edge, tip] = row ? [HEIGHT, HEIGHT - 46] : [0, 46];
      svg.append(shape("polygon", { class: point % 2 ? "point odd" : "point",
        points: `${x},${edge} ${x + WIDTH},${edge} ${x + WIDTH / 2},${tip}` }));
    }
    const stack = (player, x, row, count, from = 0) => {
      const apart = Math.min(9, 44 / Math.max(1, count));
      for (let each = 0; each < count; each += 1) {
        const y = from + 5 + each * apart;
        svg.append(shape("g", { class: `stone ${view.colours[player]}` },
          shape("circle", { cx: x + WIDTH / 2, cy: row ? HEIGHT - y : y, r: 4.5 })));
      }
    };
    for (const player of [0, 1]) {
      const mine = player === bottom;
      for (let point = 1; point < BAR; point += 1) {
        const { x, row } = place(mine ? point : BAR - point);
        stack(player, x, row, now[player][point]);
      }
      stack(player, 6 * WIDTH, mine ? 1 : 0, now[player][BAR], 8);
      const off = shape("text", { class: "piece", x: 13.5 * WIDTH, y: mine ? HEIGHT - 6 : 11 });
      off.append(String(now[player][OFF]));
      svg.append(off);
    }
    (view.roll ?? []).forEach((die, number) => {
      const [x, y] = [88 + 13 * number, HEIGHT / 2 - 5];
      svg.append(shape("rect", { class: "die", x, y, width: 10, height: 10, rx: 1.5 }));
      for (const pip of PIPS[die]) {
        svg.append(shape("circle", { class: "pip", r: 1, cx: x + 2.4 + 2.6 * (pip % 3), cy: y + 2.4 + 2.6 * Math.floor(pip / 3) }));
      }
    });
    const targets = new Set(chosen === null ? steps.map(([from]) => from)
      : [chosen, ...steps.filter(([from]) => from === chosen).map(([, to]) => to)]);
    for (const target of targets) {
      const [shownAt] = draft(target, target);
      const isOff = target === OFF, onBar = target === BAR;
      const where = isOff || onBar ? { x: (onBar ? 6 : 13) * WIDTH, row: 1, column: onBar ? 6 : 13 } : place(shownAt);
      const name = isOff ? say("off") : onBar ? say("bar") : say("point", { number: target, men: now[view.mover][target] });
      button(svg, where.row, where.column, name, () => {
        if (chosen === null) chosen = target;
        else if (target === chosen) chosen = null;
        else {
          step(chosen, target);
          return;
        }
        draw();
      }, { x: where.x, y: where.row ? HEIGHT / 2 + 8 : 0, width: WIDTH, height: HEIGHT / 2 - 8,
        class: target === chosen ? "press chosen source" : chosen === null ? "press source" : "press target",
        "aria-pressed": target === chosen ? "true" : null });
    }
    back.hidden = !made.length;
    replace(holder, svg);
  }

  return {
    node,
    show(position, given) {
      view = position;
      options = given;
      made = [];
      chosen = null;
      draw();
    },
  };
}
