// Puzzles: positions of analysed games before a mistake. The visitor looks for a better move.
//
// ?study=&game=&side= in the address: the mistakes of a player in a saved analysis. Otherwise: the
// puzzles of all games. The part after # is the number of the shown puzzle.

import { createBoard } from "./board.js";
import { puzzlesOf } from "./mistakes.js";
import { numbered, onTypedMove, worded as localMove } from "./notation.js";
import { ask, element, words } from "./site.js";
import { allPuzzles, collect, find, removePuzzle, savePuzzle } from "./store.js";
import { grow } from "./tree.js";

const [say, played] = await Promise.all([words("puzzles"), words("play")]);
const MARKS = { new: "", solved: "✓", failed: "✗" };

const asked = new URLSearchParams(location.search);
let puzzles = []; // those that the page shows
let queue = []; // those still to be tried in this pass
let pass = []; // those of this pass that have been tried, with the result of the first try
let puzzle = null; // the shown one, null for the summary
let stage = "try"; // or "judge", "good", "bad", "solution"
let shown = null; // the drawn position
let loaded = false;
let number = 0; // of the last request; earlier answers are ignored
let judging = new AbortController(); // ends the search for an earlier puzzle

const main = document.getElementById("main");
const view = createBoard(attempt, (reason) => { trouble.textContent = say(reason); });
const task = element("p", { role: "status", "aria-live": "polite" });
const verdict = element("p", { class: "verdict", role: "status", "aria-live": "polite" });
const trouble = element("p", { class: "error", role: "alert" });
const count = element("p", { class: "faint" });
const title = element("h2", { hidden: true }); // until a puzzle is shown
const list = element("ol", { class: "puzzles", "aria-label": say("all") });
const text = element("input", { id: "move", autocomplete: "off", size: 8, spellcheck: "false" });
const form = element("form", { class: "steps" },
  element("label", { for: "move" }, say("your move")), text, element("button", {}, say("play")));
const action = (key, press) => element("button", { type: "button", "data-action": key, onclick: press }, say(key));
const retry = action("retry", () => begin(puzzle));
const solution = action("solution", () => showSolution().catch(complain));
const next = action("next", advance);
const forget = action("forget", () => remove().catch(complain));
const analysis = element("a", { class: "button" }, say("analyse"));
const summary = element("div", { class: "steps" });
const table = element("div", { class: "left" }, view.node, form);
const column = element("div", { class: "right" }, title, task, verdict, trouble,
  element("div", { class: "steps" }, retry, solution, next, analysis, forget), summary, count, list);
main.append(element("h1", {}, say(asked.has("study") ? "mistakes" : "title")),
  element("div", { class: "study" }, table, column));

const isChess = () => puzzle.game.game === "chess";
const worded = (move) => localMove(played, puzzle.game.game, move);
// numbered() writes the moves of chess in the page's language.
const numberedMove = ({ game: { game }, view: before, move, ply }) =>
  numbered(before, game === "chess" ? move : localMove(played, game, move), ply, true);
const open = ({ state }) => state !== "solved";

function complain(error) {
  trouble.textContent = say(error.message);
}

/** Load the puzzles that the address names. */
async function load() {
  if (!asked.has("study")) {
    puzzles = (await allPuzzles()).reverse();
    return;
  }
  const which = Number(asked.get("game") ?? 0);
  const saved = await find(asked.get("study"));
  if (!saved?.games[which]) throw new Error("not kept");
  const game = saved.games[which];
  const found = puzzlesOf({ ...game, root: grow(game) }, Number(asked.get("side")), asked.get("study"), which);
  await collect(found);
  const states = new Map((await allPuzzles()).map((each) => [each.id, each.state]));
  puzzles = found.map((each) => ({ ...each, state: states.get(each.id) ?? each.state }));
}

/** Start a pass through some of the puzzles. */
function restart(chosen) {
  queue = [...chosen];
  pass = [];
  begin(queue[0] ?? null);
}

/** Show a puzzle to be tried, or the summary. */
function begin(which) {
  number += 1;
  judging.abort();
  puzzle = which;
  stage = "try";
  verdict.textContent = trouble.textContent = "";
  verdict.className = "verdict";
  const place = puzzles.indexOf(puzzle);
  history.replaceState(null, "", location.pathname + location.search + (puzzle ? `#${place + 1}` : ""));
  shown = puzzle && { ...puzzle.view };
  update();
  if (puzzle && puzzle.game.game !== "go") {
    const current = number;
    ask("/analyse/position", puzzle.game).then(({ legal, check }) => {
      if (number !== current) return;
      Object.assign(shown, { legal, check });
      draw();
    }).catch(complain);
  }
}

/** Show the next puzzle of the pass. A skipped one comes again. */
function advance() {
  if (queue[0] === puzzle) queue.push(queue.shift());
  begin(queue[0] ?? null);
}

function update() {
  const side = puzzle && say(isChess() ? ["White", "Black"][puzzle.side] : ["Black", "White"][puzzle.side]);
  table.hidden = !puzzle;
  title.textContent = puzzle?.title || (puzzle ? say("position") : "");
  title.hidden = !title.textContent;
  task.textContent = puzzle ? say(`task ${puzzle.grade ?? "mistake"}`, { side, move: numberedMove(puzzle) }) : "";
  for (const [button, visible] of [[retry, puzzle && ["bad", "good", "solution"].includes(stage)],
    [solution, puzzle && ["try", "bad"].includes(stage)],
    [next, puzzle && (stage !== "try" || queue.some((each) => each !== puzzle))],
    [analysis, puzzle], [forget, puzzle]]) {
    button.hidden = !visible;
  }
  next.textContent = say(stage === "try" ? "skip" : queue.length ? "next" : "finish");
  next.classList.toggle("main", ["good", "solution"].includes(stage));
  text.disabled = stage !== "try";
  if (puzzle) analysis.href = puzzle.source;
  showSummary();
  count.textContent = puzzles.length ? say("count", {
    open: puzzles.filter(open).length, solved: puzzles.filter((each) => !open(each)).length,
  }) : "";
  list.replaceChildren(...puzzles.map((each) => {
    const item = element("li", {}, element("button", { type: "button", onclick: () => begin(each) },
      element("span", { "aria-hidden": "true" }, `${MARKS[each.state]} `),
      `${[each.title, numberedMove(each)].filter(Boolean).join(" · ")} (${say(each.state)})`));
    if (each === puzzle) item.setAttribute("aria-current", "step");
    return item;
  }));
  if (puzzle) draw();
}

/** Show what this pass has brought, and what can be done next. */
function showSummary() {
  summary.hidden = Boolean(puzzle) || !loaded;
  if (summary.hidden) return;
  const failed = pass.filter((each) => each.state === "failed");
  const texts = !puzzles.length ? say(asked.has("study") ? "no mistakes" : "none")
    : pass.length ? say("summary", { solved: pass.length - failed.length, count: pass.length })
      : say("nothing open");
  const button = (key, chosen) => element("button", { type: "button", class: "main", "data-action": key,
    onclick: () => restart(chosen) }, say(key));
  summary.replaceChildren(element("p", { role: "status", class: "summary" }, texts));
  if (failed.length) summary.append(button("failed again", failed));
  else if (puzzles.length) summary.append(button("all again", puzzles));
  const link = (key, href) => element("a", { class: "button", href }, say(key));
  if (asked.has("study")) {
    summary.append(link("analyse", `/analyse?study=${encodeURIComponent(asked.get("study"))}`), link("all", "/puzzles"));
  } else summary.append(link("play a game", "/play"));
}

function draw() {
  view.show(shown, {
    movable: stage !== "try" ? "" : isChess() ? "both" : true,
    orientation: isChess() && puzzle.side ? "black" : "white",
    label: say("board", { position: shown.fen ?? "" }),
    again: true,
  });
}

/** Remember the result of the first try of a puzzle in this pass. */
function finish(state) {
  queue = queue.filter((each) => each !== puzzle);
  if (pass.includes(puzzle)) return;
  pass.push(puzzle);
  puzzle.state = state;
  savePuzzle(puzzle).catch(() => {}); // without a store, only this page remembers it
}

/** Play a move of the visitor, and show how good it is. */
async function attempt(move) {
  if (stage !== "try") return;
  const current = number += 1;
  trouble.textContent = "";
  stage = "judge";
  verdict.textContent = say("judging");
  update();
  try {
    const judged = await judge(move);
    if (number !== current) return;
    const good = !judged.grade;
    finish(good ? "solved" : "failed");
    stage = good ? "good" : "bad";
    shown = judged.position;
    const loss = Math.max(1, Math.round(100 * judged.loss)); // below a percent, too
    const played = worded(shown.move);
    verdict.className = `verdict ${stage}`;
    verdict.textContent = !good ? say("bad", { move: played, loss })
      : shown.move === puzzle.best ? say("best", { move: played })
        : say("good", { move: played, best: worded(puzzle.best) });
  } catch (error) {
    if (number !== current) return;
    stage = "try";
    verdict.textContent = "";
    complain(error);
    update();
    return false;
  }
  update();
}

/** Judge a move as the review did. The best move and that of the game need no search. */
async function judge(move) {
  const asked = { study: puzzle.game, ply: puzzle.ply, move };
  judging = new AbortController();
  const { signal } = judging;
  const position = (await ask("/analyse/move", asked, "POST", signal)).positions.at(-1);
  if (position.move === puzzle.best) return { position, loss: 0, grade: "" };
  if (position.played === puzzle.played) return { position, loss: puzzle.loss, grade: "mistake" };
  return ask("/analyse/judge", asked, "POST", signal);
}

async function showSolution() {
  const current = number += 1;
  const { positions } = await ask("/analyse/move", { study: puzzle.game, ply: puzzle.ply, move: puzzle.best });
  if (number !== current) return;
  finish("failed");
  stage = "solution";
  shown = positions.at(-1);
  verdict.className = "verdict";
  verdict.textContent = say("solution is", { line: puzzle.line.slice(0, 6).map(worded).join(" ") });
  update();
}

async function remove() {
  const gone = puzzle;
  await removePuzzle(gone.id);
  puzzles = puzzles.filter((each) => each !== gone);
  queue = queue.filter((each) => each !== gone);
  pass = pass.filter((each) => each !== gone);
  begin(queue[0] ?? null);
}

onTypedMove(form, text, isChess, attempt);

let problem = null;
try {
  await load();
  loaded = true;
} catch (error) {
  problem = error;
}
const first = puzzles[Number(location.hash.slice(1)) - 1];
queue = asked.has("study") ? [...puzzles] : puzzles.filter(open);
begin(first ?? queue[0] ?? null);
if (problem) complain(problem);
