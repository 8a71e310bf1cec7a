// The analysis page: a board, its live analysis, and the review of a whole game.

import { channel } from "./channel.js";
import { bar, diagram, numbered, scoreText } from "./diagram.js";
import { course } from "./graph.js";
import { ask, element, language, words } from "./site.js";

const say = await words("analyse");
const SIGNS = { inaccuracy: "?!", mistake: "?", blunder: "??" };
// The server limits the rate of messages by their length, and each of these contains the whole game.
const LOOK_INTERVAL_MS = 250;
const EXAMPLE = { text: "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1" };

let games = [];
let study = null;
let review = null;
let at = 0;
let look = 0;
let nextLook = 0;  // earliest time of the next search, in milliseconds
let later;  // the timer of a delayed search
let chosen = "";
let found = { lines: [], owners: [] };
let flipped = false;
let reviewing = false;
let welcomed = false;

const main = document.getElementById("main");
const view = diagram(pick);
let balance = bar("chess");
const trouble = element("p", { class: "error", role: "alert" });
const news = element("p", { role: "status", "aria-live": "polite" });
const lines = element("ol", { class: "lines" });
const searching = element("p", { class: "faint" });
const moves = element("div", { class: "moves", tabindex: "0", role: "group", "aria-label": say("moves") });
const comment = element("p", { class: "comment", tabindex: "0", role: "note", "aria-label": say("comment") });
const graph = element("div", {});
const tallies = element("div", {
  class: "wide", tabindex: "0", role: "region", "aria-label": say("counts"), hidden: true,
});
const progress = element("progress", { max: 1, value: 0, "aria-label": say("judging"), hidden: true });
const source = element("textarea", { id: "source", spellcheck: "false" });
const file = element("input", { id: "file", type: "file", accept: ".pgn,.sgf,.fen,.txt" });
const choice = element("select", { id: "games" });
const choosing = element("p", { hidden: true }, element("label", { for: "games" }, say("game")), choice);
const title = element("h2", {});
const text = element("input", { id: "move", autocomplete: "off", size: 8 });
const form = element("form", { class: "steps" },
  element("label", { for: "move" }, say("your move")), text,
  element("button", {}, say("play")));
const thinking = element("input", { id: "thinking", type: "checkbox", checked: true });
const judge = element("button", { type: "button", class: "main" }, say("judge"));
const record = element("button", { type: "button", class: "record", hidden: true, onclick: download }, say("download"));
const nodes = element("select", { id: "nodes" },
  ...["quick", "usual", "thorough"].map((name) =>
    element("option", { value: name, selected: name === "usual" }, say(name))));
const table = element("div", { class: "table" }, balance.node, view.node);

main.append(
  element("h1", {}, say("title")),
  element("details", { id: "sourcing" }, element("summary", {}, say("open")),
    element("label", { for: "file" }, say("file")), file,
    element("label", { for: "source" }, say("paste")), source,
    element("p", { class: "steps" },
      element("button", { type: "button", class: "main", onclick: () => load(source.value) }, say("load")),
      element("button", { type: "button", onclick: () => load(EXAMPLE.text) }, say("start position")))),
  choosing, trouble, news, title,
  element("div", { class: "study" },
    element("div", {}, table,
      element("div", { class: "steps" }, ...[
        ["first", () => 0], ["back", () => at - 1], ["forward", () => at + 1], ["last", () => last()],
      ].map(([name, place]) => element("button", { type: "button", onclick: () => go(place()) }, say(name))),
      element("button", { type: "button", onclick: () => { flipped = !flipped; draw(); } }, say("flip"))),
      form, comment),
    element("div", {},
      element("p", { class: "steps" }, thinking, element("label", { for: "thinking" }, say("search"))),
      lines, searching,
      element("div", { class: "steps" }, judge,
        element("label", { for: "nodes", class: "hidden-words" }, say("care")), nodes, record),
      progress, graph, tallies, moves)),
);

const wire = channel("/analyse/channel", heard);
const last = () => (study ? study.positions.length - 1 : 0);

/** Return the part of a game that the server needs: it derives the positions from the moves. */
function sent() {
  const { game, query, start, chess960, moves } = study;
  return game === "go" ? { game, query } : { game, start, chess960, moves };
}

/** Return the text of a file. Old files may not be in UTF-8. SGF files name their encoding. */
async function textOf(given) {
  const bytes = await given.arrayBuffer();
  const read = (encoding) => new TextDecoder(encoding, { fatal: true }).decode(bytes);
  const latin = new TextDecoder("windows-1252").decode(bytes);
  for (const encoding of ["utf-8", /CA\[([\w-]+)\]/.exec(latin)?.[1] ?? "windows-1252"]) {
    try {
      return read(encoding);
    } catch { /* try the next encoding */ }
  }
  return latin;
}

async function load(given) {
  trouble.textContent = "";
  try {
    ({ games, skipped: trouble.textContent } = await ask("/analyse/load", { text: given }));
  } catch (error) {
    trouble.textContent = say(error.message);
    return;
  }
  choice.replaceChildren(...games.map((game, place) => element("option", { value: place },
    `${place + 1}. ${game.players.join(" – ")} ${game.result}`)));
  choosing.hidden = games.length < 2;
  document.getElementById("sourcing").open = false;
  open(games[0]);
}

function open(game) {
  if (reviewing) wire.send({ kind: "cancel" });
  reviewing = false;
  study = game;
  review = null;
  progress.hidden = true;
  record.hidden = true;
  const fresh = bar(study.game);
  balance.node.replaceWith(fresh.node);
  balance = fresh;
  const known = study.players.some((name) => name !== "?");
  title.textContent = known ? `${study.players.join(" – ")} ${study.result}` : say("position");
  judge.disabled = study.positions.length < 2;
  news.textContent = say("loaded", { count: last() });
  listMoves();
  drawCourse();
  go(study.positions.length > 1 ? 0 : last());
}

function listMoves() {
  moves.replaceChildren(...study.positions.slice(1).map((position, place) =>
    element("button", { type: "button", onclick: () => go(place + 1) },
      numbered(study.positions[place], position.move, place), element("span", { class: "sign" }))));
}

function showSigns() {
  [...moves.children].forEach((button, place) => {
    const judged = review?.moves[place];
    button.querySelector(".sign").textContent = SIGNS[judged?.grade] ?? "";
    button.title = judged?.grade ? explained(judged) : "";
  });
}

function explained(judged) {
  return say(judged.grade) + ": " + say("gives away", {
    loss: Math.round(100 * judged.loss), better: judged.line.slice(0, 6).join(" "),
  });
}

function drawCourse() {
  graph.replaceChildren();
  tallies.replaceChildren();
  tallies.hidden = !review;
  if (!review) return;
  const bad = review.moves.filter((move) => move.grade).length;
  graph.append(course(study.game, review.start, review.moves, at,
    say("course", { count: bad }), (ply) => go(ply)));
  const names = [study.players[0], study.players[1]].map((name, place) =>
    (name === "?" ? say(study.game === "chess" ? ["White", "Black"][place] : ["Black", "White"][place]) : name));
  const heads = ["player", "count", "inaccuracies", "mistakes", "blunders", "mean loss"];
  tallies.append(element("table", {},
    element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", { scope: "col" }, say(head))))),
    element("tbody", {}, ...review.tallies.map((tally, place) => element("tr", {},
      element("th", { scope: "row" }, names[place]),
      ...[tally.moves, tally.inaccuracies, tally.mistakes, tally.blunders,
        tally.loss == null ? "" : `${(100 * tally.loss).toFixed(1)} %`]
        .map((cell) => element("td", {}, String(cell))))))));
}

function go(place) {
  if (!study) return;
  at = Math.max(0, Math.min(last(), place));
  chosen = "";
  found = { lines: [], owners: ownersAt(at) };
  [...moves.children].forEach((button, each) => {
    if (each === at - 1) {
      button.setAttribute("aria-current", "step");
      moves.scrollTop = button.offsetTop - moves.offsetTop - moves.clientHeight / 2;
    } else button.removeAttribute("aria-current");
  });
  const position = study.positions[at];
  comment.textContent = position.comment ?? "";
  comment.hidden = !position.comment;
  const judged = at ? review?.moves[at - 1] : null;
  const words = at ? say("after", { number: at, move: position.move }) : say("beginning");
  news.textContent = judged?.grade ? `${words} ${explained(judged)}` : words;
  drawCourse();
  draw();
  search();
}

/** Decode the ownership of each point in a Go position: one letter per point, k for neutral. */
function ownersAt(place) {
  return [...(review?.owners?.[place] ?? "")].map((letter) => (letter.charCodeAt(0) - 107) / 10);
}

/** Search the shown position. While an arrow key is held, search only some of the positions. */
function search() {
  look += 1;
  clearTimeout(later);
  lines.replaceChildren();
  searching.textContent = "";
  if (!study || reviewing) return;
  if (!thinking.checked) {
    wire.send({ kind: "stop" });
    return;
  }
  searching.textContent = say("searching");
  const now = performance.now();
  if (now < nextLook) {
    later = setTimeout(search, nextLook - now);
    return;
  }
  nextLook = now + LOOK_INTERVAL_MS;
  wire.send({ kind: "look", look, study: sent(), ply: at });
}

function draw() {
  if (!study) return;
  const position = study.positions[at];
  const best = found.lines[0];
  const judged = at ? review?.moves[at - 1] : null;
  const share = best?.expected ?? judged?.expected ?? (at === 0 ? review?.start : null);
  const score = scoreText(best ?? judged ?? { expected: share });
  const side = say(study.game === "chess" ? "White" : "Black");
  balance.show(share, say("balance", { side, share: share == null ? "?" : Math.round(100 * share), score }));
  view.show(position, {
    flipped, chosen, owners: found.owners, arrows: found.lines.map((line) => line.arrow),
    label: say("board", { move: at ? position.move : say("beginning"), score, fen: position.fen ?? "" }),
  });
}

function heard(message) {
  if (message.kind === "welcome") comeAgain();
  else if (message.kind === "refused") refused(message.text);
  else if (message.kind === "waiting") news.textContent = say("waiting");
  else if (message.kind === "lines" && message.look === look) showLines(message);
  else if (message.kind === "review" && reviewing) showReview(message);
}

/** Send the pending requests again after a reconnection. */
function comeAgain() {
  if (welcomed && reviewing) askReview();
  else if (welcomed) search();
  welcomed = true;
}

function refused(reason) {
  trouble.textContent = say(reason);
  searching.textContent = "";
  if (!reviewing) return;
  reviewing = false;
  judge.disabled = false;
  progress.hidden = true;
}

function showLines(message) {
  found = { lines: message.lines, owners: message.owners ?? [] };
  lines.replaceChildren(...message.lines.map((line) => element("li", {},
    element("span", { class: "score" }, study.game === "go"
      ? `${Math.round(100 * line.expected)} % ${scoreText(line)}` : scoreText(line)),
    ...line.moves.map((move) => element("span", { class: "move" }, `${move} `)))));
  const best = message.lines[0];
  searching.textContent = !best ? say("over")
    : `${message.done ? say("done") : say("searching")} ${best.depth ? say("depth", { depth: best.depth }) : ""} ${say("nodes", { nodes: best.nodes.toLocaleString(language) })}`;
  draw();
}

judge.addEventListener("click", () => {
  reviewing = true;
  trouble.textContent = "";
  judge.disabled = true;
  record.hidden = true;
  progress.hidden = false;
  progress.value = 0;
  askReview();
});

function askReview() {
  const cares = study.game === "chess" ? { quick: 10000, usual: 60000, thorough: 400000 }
    : { quick: 50, usual: 200, thorough: 1000 };
  wire.send({ kind: "review", study: sent(), nodes: cares[nodes.value] });
}

function showReview(message) {
  review = message;
  progress.max = message.total;
  progress.value = message.done;
  showSigns();
  drawCourse();
  if (message.finished) {
    reviewing = false;
    judge.disabled = false;
    progress.hidden = true;
    record.hidden = false;
    const bad = message.moves.filter((move) => move.grade).length;
    go(at);
    news.textContent = say("judged", { count: bad });
  } else draw();
}

/** Download the reviewed game as a file. */
async function download() {
  trouble.textContent = "";
  const { game, source } = study;
  const { said, nodes: each } = review;
  try {
    const made = await ask("/analyse/record", { game, source, said, nodes: each });
    const address = URL.createObjectURL(new Blob([made.text], { type: "text/plain" }));
    element("a", { href: address, download: made.name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
    news.textContent = say("written", { name: made.name });
  } catch (error) {
    trouble.textContent = say(error.message);
  }
}

async function play(move) {
  trouble.textContent = "";
  try {
    const next = await ask("/analyse/move", {
      study: { ...sent(), players: study.players }, ply: at, move,
    });
    const same = next.positions.length <= study.positions.length
      && JSON.stringify(study.positions[at + 1]?.move) === JSON.stringify(next.positions[at + 1].move);
    if (same) {
      go(at + 1);
      return;
    }
    open({ ...next, result: "*" });
    go(last());
  } catch (error) {
    trouble.textContent = say(error.message);
    chosen = "";
    draw();
  }
}

function pick(square) {
  if (!study) return;
  if (study.game === "go") play(square);
  else if (!chosen || chosen === square) {
    chosen = chosen ? "" : square;
    draw();
  } else play(chosen + square);
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (study && text.value.trim()) play(text.value.trim());
  text.value = "";
});
thinking.addEventListener("change", () => { search(); draw(); });
choice.addEventListener("change", () => open(games[Number(choice.value)]));
file.addEventListener("change", async () => {
  const [given] = file.files;
  if (given) load(await textOf(given));
});
document.addEventListener("keydown", (event) => {
  if (/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
  if (event.key === "ArrowLeft") go(at - 1);
  else if (event.key === "ArrowRight") go(at + 1);
});

await load(EXAMPLE.text);
