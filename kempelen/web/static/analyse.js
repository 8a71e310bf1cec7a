// The analysis page: the move tree of a game, live analysis, and the review of a whole game.
//
// The address names the game: ?study= in the store of this browser, ?game= a game of the page Play,
// ?watched= a game of the page Watch, ?running= the game on one of its boards, ?fen=, ?sgf=, ?board= a
// board game with its ?position=, or #text= the compressed game of a link. Otherwise, the part after #
// is the game of a file and the number of the shown node.

import { createBoard } from "./board.js";
import { keep as keepChoices, restore as restoreChoices } from "./choices.js";
import { channel } from "./channel.js";
import {
  bar, fenQuery, fixed, goResult, numbered, numberedLine, onTypedMove, pliesBefore, score as shownResult, scoreText, worded as localMove,
} from "./notation.js";
import { course } from "./graph.js";
import { ask, element, isStepKey, language, markStep, stepButtons, stepByWheel, stepOf, words } from "./site.js";
import { mistakes, puzzlesOf } from "./mistakes.js";
import { sgfOf } from "./stones.js";
import { collect, find, save } from "./store.js";
import { add, flat, gameTo, grow, lineFrom, pack, path, promote, remove, variation } from "./tree.js";

const [say, playing] = await Promise.all([words("analyse"), words("play")]);
const SIGNS = { inaccuracy: "?!", mistake: "?", blunder: "??" };
// The server limits the rate of messages by their length, and each of these contains the whole game.
const LOOK_INTERVAL_MS = 250;
const EXAMPLE = { text: "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1" };

const MARKS = ["", "!", "?", "!!", "??", "!?", "?!"]; // by NAG
const MAX_UNDO = 50;
const MAX_EFFORT = 2; // each step searches longer
const DEEP = 6; // deeper variations are not indented
const MAX_REMARK = 400; // characters of a comment among the moves

let games = [];
let study = null; // one of the games, with its root, and its review if there is one
let here = null; // the shown node
let id = ""; // of the saved games
let linked = ""; // the text of the link that has been opened, until the game is saved
let look = 0;
let effort = 0; // how often the visitor has extended the search of the shown position
let aimed = null; // the node for which effort and threat are set
let threat = false; // whether the moves of the other side are searched
let nextLook = 0;  // earliest time of the next search, in milliseconds
let later;  // the timer of a delayed search
let found = { lines: [], owners: [] };
let flipped = false;
let reviewing = false;
let welcomed = false;
let again = false; // the board must be drawn again, because a move on it was refused
const buttons = new Map(); // those of the moves, by node

const main = document.getElementById("main");
const view = createBoard(play, (reason) => { trouble.textContent = say(reason); });
let balance = bar("chess");
const trouble = element("p", { class: "error", role: "alert" });
const news = element("p", { class: "news", role: "status", "aria-live": "polite" });
const better = element("p", { class: "better line", hidden: true });
const lines = element("ol", { class: "lines" });
const searching = element("p", { class: "searching faint" });
const evaluation = element("b", { class: "evaluation" });
const moves = element("div", { class: "moves", tabindex: "0", role: "group", "aria-label": say("moves") });
const comment = element("p", { class: "comment", tabindex: "0", role: "note", "aria-label": say("comment") });
const graph = element("div", {});
const tallies = element("div", {
  class: "wide", tabindex: "0", role: "region", "aria-label": say("counts"), hidden: true,
});
const learning = element("p", { class: "steps", hidden: true });
const progress = element("progress", { max: 1, value: 0, "aria-label": say("judging"), hidden: true });
const source = element("textarea", { id: "source", spellcheck: "false" });
const file = element("input", { id: "file", type: "file", accept: ".pgn,.sgf,.fen,.txt,.json" });
const choice = element("select", { id: "games" });
const choosing = element("p", { hidden: true }, element("label", { for: "games" }, say("game")), choice);
const title = element("h2", {});
const opening = element("p", { class: "opening faint" });
const text = element("input", { id: "move", autocomplete: "off", size: 8 });
const form = element("form", { class: "steps" },
  element("label", { for: "move" }, say("your move")), text,
  element("button", {}, say("play")));
const thinking = element("input", { id: "thinking", type: "checkbox", checked: true });
const territory = element("input", { id: "territory", type: "checkbox", checked: true, onchange: () => draw() });
const territorial = element("label", { class: "switch", hidden: true }, territory, say("territory"));
const lineCount = element("select", { id: "lines" }, ...[1, 2, 3, 4, 5].map((each) =>
  element("option", { value: each, selected: each === 3 }, String(each))));
const deeper = element("button", { type: "button", "data-action": "deeper", disabled: true, onclick: () => {
  effort += 1;
  search();
} }, say("go deeper"));
const threatening = element("button", { type: "button", "data-action": "threat", "aria-pressed": "false",
  title: say("threat explained"), onclick: () => {
    threat = !threat;
    effort = 0;
    found = { lines: [], owners: ownersAt(here) };
    draw();
    search();
  } }, say("threat"));
const judge = element("button", { type: "button", class: "main" }, say("judge"));
const record = element("button", { type: "button", class: "record", onclick: () => attempt(download) }, say("download"));
const nodes = element("select", { id: "nodes" },
  ...["quick", "usual", "thorough"].map((name) =>
    element("option", { value: name, selected: name === "usual" }, say(name))));
const table = element("div", { class: "table" }, balance.node, view.node);

const action = (key, press) => element("button", { type: "button", "data-action": key, onclick: press }, say(key));
const undoing = action("undo", undo);
const copying = action("copy position", () => copy(here.fen));
const linking = action("copy link", () => attempt(async () => copy(await link())));
const setting = element("a", { class: "button", "data-action": "set up" }, say("set up"));
const promoting = action("promote", () => edit(() => {
  promote(variation(here));
  return here;
}));
const deleting = action("delete", () => edit(() => remove(here)));
const mark = element("select", { id: "mark", onchange: () => edit(() => {
  const others = (here.nags ?? []).filter((nag) => !MARKS[nag]);
  const nag = MARKS.indexOf(mark.value);
  return Object.assign(here, { nags: nag ? [nag, ...others] : others, marked: true });
}) }, ...MARKS.map((sign) => element("option", { value: sign }, sign || say("no mark"))));
const note = element("textarea", { id: "note", maxlength: 2000, onchange: () => edit(() =>
  Object.assign(here, { comment: [...commands(here), note.value.trim()].join(" ").trim(), noted: true })) });
const editing = element("details", { id: "editing" }, element("summary", {}, say("edit")),
  element("label", { for: "note" }, say("comment")), note,
  element("p", { class: "steps" }, element("label", { for: "mark" }, say("mark")), mark, promoting, deleting));

main.append(element("h1", { class: "hidden-words" }, say("title")), element("div", { class: "study" },
  element("div", { class: "left" }, table,
    element("div", { class: "steps", role: "group", "aria-label": playing("replay") }, ...stepButtons(playing, step), undoing)),
  element("div", { class: "right" },
    element("details", { id: "sourcing" }, element("summary", {}, say("open")),
      element("label", { for: "file" }, say("file")), file,
      element("label", { for: "source" }, say("paste")), source,
      element("p", { class: "steps" },
        element("button", { type: "button", class: "main", onclick: () => load(source.value) }, say("load")),
        element("button", { type: "button", onclick: () => load(EXAMPLE.text) }, say("start position")))),
    choosing, title, opening,
    element("p", { class: "steps" }, element("label", { class: "switch" }, thinking, say("search")),
      element("label", { for: "lines" }, say("lines")), lineCount, deeper, threatening, territorial),
    element("p", { class: "found" }, evaluation, searching), lines,
    trouble, news, better, comment, moves, progress, graph, form,
    element("div", { class: "steps" }, judge,
      element("label", { for: "nodes", class: "hidden-words" }, say("care")), nodes), learning, tallies, editing,
    element("div", { class: "steps" }, record,
      action("copy game", () => attempt(async () => copy((await exported()).text))), copying,
      linking, setting))));

stepByWheel(view.node, step);

function step(name) {
  if (name === "flip") {
    flipped = !flipped;
    draw();
    if (id) keep();
  } else {
    go({ first: study.root, previous: here.parent, next: here.children[0], last: lineFrom(here).at(-1) }[name]);
  }
}

const wire = channel("/analyse/channel", heard);
const sent = (node) => gameTo(study, node);
const gameTitle = ({ players, result }) =>
  [players.join(" – "), shownResult(goResult(result.replace("*", ""), playing))].filter(Boolean).join(" · ");
const isBoardGame = () => !["chess", "go"].includes(study.game);
const mainMoves = () => lineFrom(study.root).map((node) => node.played).join();
const mainEnd = () => lineFrom(study.root).at(-1);
const inMainLine = (node) => lineFrom(study.root)[node.ply] === node;
const reviewed = (node) => (node.parent && inMainLine(node) ? study.review?.moves[node.ply - 1] : null);
const worded = (move) => localMove(playing, study.game, move);
const named = (node, full) =>
  numbered(node.parent, study.game === "chess" ? node.move : worded(node.move), node.ply - 1, full);

/** Return the commands in a comment, such as [%clk 0:01:00], which are not shown. */
function commands(node) {
  return node.comment?.match(/\[%[^\]]*\]/g) ?? [];
}

const shownComment = (node) => (node.comment ?? "").replace(/\[%[^\]]*\]\s*/g, "").trim();

/** Return a file in Base64: the server knows the encodings that browsers do not. */
function base64Of(given) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result.split(",")[1] ?? "");
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(given);
  });
}

/**
 * Open a text of the visitor, a `{file}` in Base64, or the `{position}` of a board game. `kept`: save it, and give it an address of its own.
 * `link`: the text in its address.
 */
async function load(given, kept = true, link = "") {
  trouble.textContent = "";
  let skipped;
  try {
    ({ games, skipped } = await ask("/analyse/load", typeof given === "string" ? { text: given } : given));
  } catch (error) {
    trouble.textContent = say(error.message);
    return;
  }
  id = "";
  linked = link;
  document.getElementById("sourcing").open = false;
  show(0);
  trouble.textContent = skipped;
  if (kept) keep();
}

/** Show one of the games, at a node given by its number. */
function show(which, number = 0) {
  choice.replaceChildren(...games.map((game, place) => element("option", { value: place },
    `${place + 1}. ${gameTitle(game)}`)));
  choosing.hidden = games.length < 2;
  choice.value = which;
  if (reviewing) wire.send({ kind: "cancel" });
  reviewing = false;
  study = games[which];
  study.root ??= grow(study);
  study.undo ??= [];
  progress.hidden = true;
  const fresh = bar(study.game);
  copying.hidden = opening.hidden = study.game !== "chess";
  threatening.hidden = isBoardGame();
  territorial.hidden = study.game !== "go";
  balance.node.replaceWith(fresh.node);
  balance = fresh;
  const known = study.players.some((name) => name !== "?");
  title.textContent = known ? gameTitle(study) : say("position");
  listMoves();
  news.textContent = say("loaded", { count: mainEnd().ply });
  go(flat(study.root)[number] ?? study.root);
}

/** Save the games, at an address of their own. */
function keep() {
  if (!id) {
    linked = "";
    id = [...crypto.getRandomValues(new Uint8Array(9))].map((byte) => byte.toString(36)).join("");
    history.pushState(null, "", `/analyse?study=${id}`);
  }
  writeAddress();
  const packed = games.map(({ root, undo: steps, ...game }) => ({ ...game, ...(root && pack(root)) }));
  save({ id, flipped, games: packed }).catch(() => {}); // without a store, only this page has them
}

/** Write the shown node into the address. */
function writeAddress() {
  const which = games.indexOf(study), number = flat(study.root).indexOf(here);
  const place = which ? `${which}.${number}` : String(number);
  const bare = location.pathname + location.search;
  const hash = linked ? `#text=${linked}&at=${movesTo(here)}` : place === "0" ? "" : `#${place}`;
  history.replaceState(null, "", bare + hash);
}

/** Return the moves to a node, or their number in the main line, for the address. */
function movesTo(node) {
  return inMainLine(node) ? String(node.ply)
    : path(node).map((each) => each.played.replace(" ", "")).join("-");
}

/** Return the node with an address, or the nearest one before it. */
function nodeAt(address) {
  if (/^\d*$/.test(address)) return lineFrom(study.root)[Number(address)] ?? mainEnd();
  let node = study.root;
  for (const move of address.split("-")) {
    const next = node.children.find((child) => child.played.replace(" ", "") === move);
    if (!next) break;
    node = next;
  }
  return node;
}

/** Return a link that opens the game, its variations and comments in any browser. */
async function link() {
  if (!id) return location.href; // the server has the game, or the address contains it
  const { pack: compress } = await import("./link.js");
  return `${location.origin}/analyse#text=${await compress((await exported()).text)}&at=${movesTo(here)}`;
}

/** Return the text of the link that has been opened, or "". */
async function opened(packed) {
  if (!packed) return "";
  const { unpack } = await import("./link.js");
  try {
    return await unpack(packed);
  } catch (error) {
    trouble.textContent = say(error.message);
    return "";
  }
}

/**
 * Return the text of a game of the pages Play or Watch, or "", with the visitor's player number, or null.
 * isOwn: whether it is of the page Play.
 */
async function recorded(game, isOwn) {
  try {
    const { side = null, text: own } = isOwn ? await ask(game) : {};
    if (own != null) return { side, recordedText: own };
    const answer = await fetch(`${game}/record`);
    if (!answer.ok) throw new Error(answer.statusText);
    return { side, recordedText: await answer.text() };
  } catch {
    trouble.textContent = say("not kept");
    return { side: null, recordedText: "" };
  }
}

/** Show what the address names. */
async function restore() {
  const asked = new URLSearchParams(location.search);
  const hash = new URLSearchParams(location.hash.slice(1));
  const packed = hash.get("text") ?? "";
  const [, which = 0, number = 0] = /^#(?:(\d+)\.)?(\d+)$/.exec(location.hash) ?? [];
  const saved = asked.has("study") && await find(asked.get("study")).catch(() => null);
  if (saved) {
    ({ id, games, flipped } = saved);
  } else {
    games = [];
    let problem = asked.has("study") ? say("not kept") : "";
    const [watched, running] = ["watched", "running"].map((key) => asked.get(key)?.split("/").map(encodeURIComponent));
    const own = asked.has("game") && `/games/${encodeURIComponent(asked.get("game"))}`;
    const game = own || (watched && `/watch/${watched[0]}/games/${watched[1]}`)
      || (running && `/watch/${running[0]}/board/${running[1]}`);
    trouble.textContent = "";
    const plain = (key) => asked.get(key)?.replaceAll("_", " ");
    const { side, recordedText = "" } = game ? await recorded(game, Boolean(own)) : {};
    const given = await opened(packed) || (plain("fen") ?? asked.get("sgf")
      ?? (asked.has("board") ? { board: asked.get("board"), position: plain("position") } : recordedText));
    if (given) await load(asked.has("fen") && !packed ? { text: given, variant: asked.get("variant") } : given, false, packed);
    if (given && game && games.length) games[0].own = side; // null: of another visitor
    problem ||= trouble.textContent;
    if (!games.length) await load(EXAMPLE.text, false);
    trouble.textContent = problem;
  }
  show(games[Number(which)] ? Number(which) : 0, Number(number));
  if (linked) go(nodeAt(hash.get("at") ?? ""));
  else if (asked.has("running") && !location.hash) go(mainEnd());
}

/** Change the tree: change() returns the node to be shown. */
function edit(change) {
  trouble.textContent = "";
  const before = mainMoves();
  study.undo = [...study.undo, JSON.stringify({ ...pack(study.root), at: flat(study.root).indexOf(here) })]
    .slice(-MAX_UNDO);
  const target = change();
  changed(before !== mainMoves(), target);
}

function undo() {
  const { at, ...packed } = JSON.parse(study.undo.pop());
  const before = mainMoves();
  study.root = grow(packed);
  changed(before !== mainMoves(), flat(study.root)[at]);
}

/** Show and save the changed tree. A review is of the main line. */
function changed(mainLine, target) {
  if (mainLine) {
    study.review = null;
    if (reviewing) wire.send({ kind: "cancel" });
    reviewing = false;
    progress.hidden = true;
  }
  study.changed = true;
  here = target;
  listMoves();
  keep();
  go(target);
}

function listMoves() {
  buttons.clear();
  moves.classList.toggle("pairs", study.game === "chess");
  moves.replaceChildren(...listed(study.root.children, 0));
  showSigns();
}

/**
 * Return the elements of a line and of its variations. siblings: its first move, and the others;
 * full: whether the first move of Black needs a number.
 */
function listed(siblings, depth, full = true) {
  const made = [];
  for (; siblings.length; siblings = siblings[0].children) {
    const [node, ...others] = siblings;
    const remark = remarkOn(node);
    made.push(moveButton(node, full), ...remark);
    full = Boolean(others.length || remark.length);
    for (const other of others) {
      const own = remarkOn(other);
      const inner = [moveButton(other, true), ...own, ...listed(other.children, depth + 1, Boolean(own.length))];
      made.push(...(depth < DEEP ? [element("div", { class: "variation" }, ...inner)] : ["(", ...inner, ")"]));
    }
  }
  return made;
}

function moveButton(node, full) {
  const plies = study.game === "chess" ? pliesBefore(node.parent.fen) : 0;
  const made = element("button", { type: "button", class: plies % 2 ? "by-black" : "by-white", onclick: () => go(node) },
    named(node, full), element("span", { class: "sign" }));
  buttons.set(node, made);
  return made;
}

/** Return the beginning of the comment on a move, if there is one. */
function remarkOn(node) {
  const remark = shownComment(node);
  if (!remark) return [];
  return [element("span", { class: "remark" }, remark.length > MAX_REMARK ? `${remark.slice(0, MAX_REMARK).trimEnd()}…` : remark)];
}

function showSigns() {
  for (const [node, button] of buttons) {
    const judged = reviewed(node);
    const own = (node.nags ?? []).map((nag) => MARKS[nag] ?? "").join("");
    const sign = button.querySelector(".sign");
    sign.textContent = own || (SIGNS[judged?.grade] ?? "");
    sign.className = `sign ${Object.keys(SIGNS).find((grade) => SIGNS[grade] === sign.textContent) ?? ""}`;
    button.title = judged?.grade ? explained(judged) : "";
  }
}

const explained = (judged) => say(`grade ${judged.grade}`, { loss: Math.round(100 * judged.loss) });

/** Return the moves of a line after a node, as buttons that play them. Only the first is reached by Tab. */
function playable(line, node) {
  const plies = study.game === "chess" ? pliesBefore(node.fen) : null;
  const texts = plies === null ? line.map(worded) : numberedLine(line, plies);
  return texts.map((written, place) => element("button", { type: "button", class: "move", tabindex: place ? -1 : 0,
    onclick: () => playLine(node, line.slice(0, place + 1)) }, written));
}

/** Play moves after a node: those that are not in the tree become a variation. */
async function playLine(node, line) {
  if (here !== node) go(node);
  for (const move of line) {
    const before = here;
    if (await play(move) === false || here.parent !== before) return;
  }
}

const sideName = (side) => say(study.game === "chess" ? ["White", "Black"][side] : ["Black", "White"][side]);

/** Offer the mistakes of each player as exercises. */
function drawLearning() {
  const sides = [0, 1].filter((side) => mistakes(study.review, side).length);
  learning.hidden = !sides.length;
  if (learning.hidden) return;
  learning.replaceChildren(say("learn"), ...sides.map((side) => element("a", {
    class: "button", "data-side": side,
    href: `/puzzles?study=${id}&game=${games.indexOf(study)}&side=${side}`,
  }, `${sideName(side)} (${mistakes(study.review, side).length})`)));
}

function drawCourse() {
  graph.replaceChildren();
  tallies.replaceChildren();
  drawLearning();
  const { review } = study;
  tallies.hidden = !review?.tallies.length;
  if (!review) return;
  const bad = review.moves.filter((move) => move.grade).length;
  const line = lineFrom(study.root);
  const at = path(here).filter((node) => line[node.ply] === node).length;
  graph.append(course(study.game, review.start, review.moves, at,
    say("course", { count: bad }), (ply) => go(line[ply]),
    (move) => `${worded(move.move)}: ${say(move.grade)}`));
  const names = [study.players[0], study.players[1]].map((name, place) =>
    (name === "?" ? sideName(place) : name));
  const heads = [["player"], ["count"], ["inaccuracies", "?!"], ["mistakes", "?"], ["blunders", "??"],
    study.game === "chess" ? ["ACPL", "ACPL"] : ["mean loss"], ["accuracy"]];
  if (tallies.hidden) return;
  const percent = (value, digits) => (value == null ? "" : `${fixed(value, digits)} %`);
  tallies.append(element("table", {},
    element("thead", {}, element("tr", {}, ...heads.map(([head, sign]) => (sign
      ? element("th", { scope: "col", title: say(head) }, sign, element("span", { class: "hidden-words" }, say(head)))
      : element("th", { scope: "col" }, say(head)))))),
    element("tbody", {}, ...review.tallies.map((tally, place) => element("tr", {},
      element("th", { scope: "row" }, names[place]),
      ...[tally.moves, tally.inaccuracies, tally.mistakes, tally.blunders,
        study.game === "chess" ? fixed(tally.centipawn_loss) : percent(tally.loss && 100 * tally.loss, 1), percent(tally.accuracy)]
        .map((cell) => element("td", {}, String(cell))))))));
}

function go(node) {
  if (!node) return;
  if (aimed !== node) [aimed, effort, threat] = [node, 0, false];
  here = node;
  found = { lines: [], owners: ownersAt(node) };
  markStep(moves, buttons.values(), buttons.get(node));
  opening.textContent = node.opening ?? "";
  comment.textContent = shownComment(node);
  comment.hidden = !comment.textContent;
  note.value = comment.textContent;
  mark.value = MARKS[(node.nags ?? []).find((nag) => MARKS[nag])] ?? "";
  mark.disabled = deleting.disabled = !node.parent;
  promoting.disabled = !variation(node);
  undoing.disabled = !study.undo.length;
  setting.href = `/editor?${isBoardGame() ? `board=${study.game}&position=${node.setup.replaceAll(" ", "_")}`
    : study.game === "chess" ? fenQuery(node.fen, study.variant)
      : `sgf=${encodeURIComponent(sgfOf(node.rows, toMove(node)))}`}`;
  judge.disabled = reviewing || !mainEnd().ply;
  const judged = reviewed(node);
  const words = node.parent ? say("after", { move: named(node, true) }) : say("beginning");
  news.textContent = judged?.grade ? `${words} ${explained(judged)}` : words;
  better.hidden = !judged?.grade || !judged.line.length;
  better.replaceChildren(...(better.hidden ? [] : [say("better"), ...playable(judged.line.slice(0, 6), node.parent)]));
  drawCourse();
  draw();
  search();
}

/** Return the player to move in Go: B or W. */
function toMove(node) {
  if (node.parent) return node.played.startsWith("B") ? "W" : "B";
  return study.query.initialPlayer ?? "B";
}

/** Decode the ownership of each point in a Go position: one letter per point, k for neutral. */
function ownersAt(node) {
  return [...((inMainLine(node) && study.review?.owners?.[node.ply]) || "")].map((letter) => (letter.charCodeAt(0) - 107) / 10);
}

/** Search the shown position. While an arrow key is held, search only some of the positions. */
function search() {
  look += 1;
  clearTimeout(later);
  lines.replaceChildren();
  evaluation.textContent = "";
  threatening.setAttribute("aria-pressed", threat);
  threatening.disabled = !thinking.checked || reviewing || Boolean(here.check);
  deeper.disabled = true;
  searching.textContent = thinking.checked && !reviewing ? say("searching") : "";
  const now = performance.now();
  if (now < nextLook) {
    later = setTimeout(search, nextLook - now);
    return;
  }
  nextLook = now + LOOK_INTERVAL_MS;
  writeAddress();
  describe(here).catch((error) => { trouble.textContent = say(error.message); });
  if (reviewing) return;
  if (!thinking.checked) {
    wire.send({ kind: "stop" });
    return;
  }
  wire.send({ kind: "look", look, study: sent(here), ply: here.ply, lines: Number(lineCount.value), effort, threat });
}

function draw() {
  if (!study) return;
  const best = found.lines[0];
  const judged = reviewed(here);
  const share = best?.expected ?? judged?.expected ?? (here.parent ? null : study.review?.start);
  const score = scoreText(best ?? judged ?? { expected: share });
  const side = say(study.game === "chess" ? "White" : "Black");
  balance.show(share, say("balance", { side, share: share == null ? "?" : Math.round(100 * share), score }));
  view.show(here, {
    variant: study.variant,
    movable: "both", flipped, again, ranked: !threat, threat,
    owners: territory.checked ? found.owners : [],
    hints: isBoardGame() ? found.lines[0]?.arrow : found.lines.map((line) => line.arrow),
    label: say("board", { move: here.move ?? say("beginning"), score, fen: here.fen ?? "" }),
  });
  again = false;
}

/** Get what the board needs of the shown position: the legal moves, and in chess whether it is check. */
async function describe(node) {
  if (study.game === "go" || node.legal) return;
  Object.assign(node, await ask("/analyse/position", sent(node)));
  if (node !== here) return;
  opening.textContent = node.opening;
  threatening.disabled ||= node.check;
  draw();
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
    element("span", { class: "score" }, evaluationText(line)), ...(threat
      ? line.moves.map((move) => element("span", { class: "move" }, worded(move))) : playable(line.moves, here)))));
  const best = message.lines[0];
  evaluation.textContent = best ? evaluationText(best) : "";
  deeper.disabled = !message.done || !best || effort >= MAX_EFFORT;
  searching.textContent = !best ? say("over")
    : `${message.done ? say("done") : say("searching")} ${best.depth ? say("depth", { depth: best.depth }) : ""} ${say("nodes", { nodes: best.nodes.toLocaleString(language) })}`;
  draw();
}

/** Return an evaluation as text. In Go, it names the leading player, such as B+3.5. */
function evaluationText(line) {
  if (study.game !== "go") return scoreText(line);
  const named = (black) => playing(`letter ${black ? "B" : "W"}`);
  const black = line.expected >= 0.5;
  const chance = `${named(black)} ${Math.round(100 * (black ? line.expected : 1 - line.expected))} %`;
  return line.lead == null ? chance : `${named(line.lead >= 0)}+${fixed(Math.abs(line.lead), 1)} · ${chance}`;
}

judge.addEventListener("click", () => {
  reviewing = true;
  trouble.textContent = "";
  judge.disabled = true;
  progress.hidden = false;
  progress.value = 0;
  askReview();
});

function askReview() {
  const cares = isBoardGame() ? { quick: 1000, usual: 5000, thorough: 20000 }
    : study.game === "chess" ? { quick: 20000, usual: 150000, thorough: 500000 }
      : { quick: 50, usual: 200, thorough: 1000 };
  wire.send({ kind: "review", study: sent(mainEnd()), nodes: cares[nodes.value] });
}

function showReview(message) {
  study.review = message;
  progress.max = message.total;
  progress.value = message.done;
  showSigns();
  drawCourse();
  if (message.finished) {
    reviewing = false;
    progress.hidden = true;
    const bad = message.moves.filter((move) => move.grade).length;
    keep();
    go(here);
    const own = study.own == null ? [] : puzzlesOf(study, study.own, id, games.indexOf(study));
    collect(own).catch(() => {}).then(() => { news.textContent = say("judged", { count: bad }); });
  } else draw();
}

/** Return the file of the game with its variations and its review. */
function exported() {
  const { game, source: given, review } = study;
  const { positions, branches } = pack(study.root);
  const tree = study.changed ? [...positions, ...branches].map((node) => ({
    parent: node.parent,
    was: node.was,
    move: node.was === null ? node.played : "",
    comment: node.noted || node.was === null ? node.comment ?? "" : null,
    nags: node.marked ? node.nags : null,
  })) : null;
  return ask("/analyse/record", { game, source: given, tree, said: review?.said, nodes: review?.nodes });
}

/** Run an action, and show its error. */
async function attempt(act) {
  trouble.textContent = "";
  try {
    await act();
  } catch (error) {
    trouble.textContent = say(error.message);
  }
}

async function download() {
  const made = await exported();
  const address = URL.createObjectURL(new Blob([made.text], { type: "text/plain" }));
  element("a", { href: address, download: made.name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
  news.textContent = say("written", { name: made.name });
}

/** Copy a text, or show it where the browser does not allow that. */
async function copy(given) {
  try {
    await navigator.clipboard.writeText(given);
    news.textContent = say("copied");
  } catch {
    source.value = given;
    document.getElementById("sourcing").open = true;
    source.select();
  }
}

/** Play a move: it becomes a variation if the game has another one. */
async function play(move) {
  const from = here;
  const known = (played) => from.children.find((child) => child.played === played);
  try {
    const entry = known(move) ?? (await ask("/analyse/move", {
      study: sent(from), ply: from.ply, move,
    })).positions.at(-1);
    trouble.textContent = "";
    if (here !== from) return false; // the visitor has gone on meanwhile
    const same = known(entry.played);
    if (same) go(same);
    else edit(() => add(from, entry));
    return true;
  } catch (error) {
    trouble.textContent = say(error.message);
    again = true;
    draw();
    return false;
  }
}

onTypedMove(form, text, () => study.game === "chess", play);
const chosen = [nodes, thinking, lineCount, territory];
restoreChoices("analyse", chosen);
for (const control of chosen) control.addEventListener("change", () => keepChoices("analyse", chosen));
thinking.addEventListener("change", () => { search(); draw(); });
lineCount.addEventListener("change", search);
choice.addEventListener("change", () => show(Number(choice.value)));
file.addEventListener("change", async () => {
  const [given] = file.files;
  if (given) load({ file: await base64Of(given) });
});
document.addEventListener("keydown", (event) => {
  const name = stepOf(event);
  if (name) step(name);
  else if (!isStepKey(event)) return;
  else if (event.key === "l") thinking.click();
  else if (event.key === "x") threatening.click();
  else if (event.key === " " && event.target.tagName !== "BUTTON" && found.lines[0] && !threat) {
    playLine(here, found.lines[0].moves.slice(0, 1));
  } else return;
  event.preventDefault();
});
addEventListener("popstate", restore);

await restore();
