// The watch page: a list of tournaments, one tournament, or one large board. Evaluations are from
// White's point of view.

import { createBoard } from "./board.js";
import { channel } from "./channel.js";
import { bar, endByRules, expectedScore, goResult, numbered, numberedLine, scoreText, signed, worded } from "./notation.js";
import { course, curves } from "./graph.js";
import { ask, element, markStep, shape, stepButtons, stepByWheel, stepOf, words } from "./site.js";

const [say, played] = await Promise.all([words("watch"), words("play")]);
const ANALYSED = ["chess", "go"]; // games that the page Analyse can open
const main = document.getElementById("main");
const [, , number, , only] = location.pathname.split("/");
const live = element("p", { class: "hidden-words", role: "status", "aria-live": "polite" });

/** Create a table. headings: texts, or pairs of short and full text. named: the column of names. */
function table(caption, headings, rows, named = 0) {
  return element("div", { class: "wide", tabindex: "0", role: "region", "aria-label": caption },
    element("table", { class: "numbers" },
      element("caption", { class: "hidden-words" }, caption),
      element("thead", {}, element("tr", {},
        ...headings.map((heading) => (Array.isArray(heading)
          ? element("th", { scope: "col", title: heading[1] }, heading[0],
            element("span", { class: "hidden-words" }, heading[1]))
          : element("th", { scope: "col" }, heading))))),
      element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map((cell, place) =>
        place === named ? element("th", { scope: "row" }, cell) : element("td", {}, cell)))))));
}

const eloText = (value) => (value == null ? "" : signed(value, 0));
const points = (value) => (value == null ? "" : String(value));

function clockText(seconds) {
  if (seconds == null) return "";
  const left = Math.max(0, seconds);
  const minutes = Math.floor(left / 60), rest = left - 60 * minutes;
  const hours = Math.floor(minutes / 60);
  const shown = left < 20 ? rest.toFixed(1).padStart(4, "0") : String(Math.floor(rest)).padStart(2, "0");
  return hours ? `${hours}:${String(minutes % 60).padStart(2, "0")}:${shown}` : `${minutes}:${shown}`;
}

function stateText(status, runner) {
  if (runner === "lost" && status.state === "running") return say("lost");
  return say(`state ${status.state ?? "unknown"}`);
}

/** Return why a game ended: the detail, or the type of termination if there is no detail. */
function ending(game) {
  if (game.detail || !game.termination) return goResult(game.detail ?? "", played);
  const { termination, result, variant } = game;
  const byRules = termination === "end of the game"
    && endByRules(played, variant, result === "1/2-1/2");
  return byRules || say(`end ${termination}`);
}

/** Return whether a game has ended by checkmate: the result is shown instead of the score. */
const isMated = (game) => game.termination === "checkmate";

/** Return moves of a running game with their numbers. at: the number of moves before them. */
function numberedMoves({ plies_before: plies, rolls }, kind, moves, at = 0) {
  if (plies != null) return numberedLine(moves, plies + at);
  return moves.map((move, place) => `${at + place + 1}. ${worded(played, kind, move, rolls.includes(at + place))}`);
}

/** Return the title of a tournament: its name, with the players if there are two. */
function titled(name, players, place) {
  const title = name || say("nameless", { number: place });
  return players?.length === 2 ? `${title}: ${players.join(" – ")}` : title;
}

/** Return a drawing of a position with the names of the players. White is at the bottom. */
function withPlayers(drawing, { black, white }) {
  return { ...drawing, colours: ["black", "white"], players: [black, white], bottom: 1 };
}

// A live board.

class Board {
  constructor(name, large) {
    this.large = large;
    this.title = element(large ? "h1" : "h3", {});
    this.view = createBoard();
    this.balance = bar("chess");
    this.sides = { white: this.side("white"), black: this.side("black") };
    this.news = element("p", {});
    this.graph = element("div", { class: "evaluations" });
    this.moves = large
      ? element("p", { class: "moves", tabindex: "0", role: "group", "aria-label": say("moves") }) : null;
    this.analysing = element("a", { "data-action": "analyse", href: `/analyse?running=${number}/${name}`, hidden: true },
      played("analyse"));
    const actions = element("p", { class: "actions" },
      element("button", { type: "button", "data-action": "flip", onclick: () => this.flip() }, played("flip")),
      large ? element("button", { type: "button", "data-action": "screen", onclick: () => showScreen(!onScreen()) },
        say("big screen")) : element("a", { href: `/watch/${number}/board/${name}` }, say("in large", { number: name })),
      this.analysing);
    this.players = element("div", { class: "players" },
      this.sides.black.node, element("div", { class: "table" }, this.balance.node, this.view.node), this.sides.white.node);
    const panel = element("div", { class: "panel" }, large ? this.title : null, this.sides.black.line, this.graph,
      this.sides.white.line, large ? this.news : null, this.moves, actions);
    this.node = large ? element("div", { class: "board large" }, this.players, panel)
      : element("section", { class: "board" }, this.title, this.players, this.news, panel);
    this.name = name;
    this.said = "";
    this.flipped = false;
    this.history = { written: [], rolls: [], scores: [], plies_before: null };
  }

  side(colour) {
    const who = element("span", { class: "who" });
    const score = element("span", { class: "score" });
    const clock = element("span", { class: "clock" });
    return {
      colour, who, score, clock,
      line: element("p", { class: "line faint" }),
      node: element("div", { class: "side" }, who, score, clock),
    };
  }

  flip() {
    this.flipped = !this.flipped;
    this.players.classList.toggle("flipped", this.flipped);
    this.draw();
  }

  /** Show the moves so far and their evaluations. */
  record(history) {
    this.history = history;
    const { written } = history;
    if (this.moves) {
      this.moves.replaceChildren(...numberedMoves(history, this.kind(), written).flatMap((move) => [element("span", {}, move), " "]));
      this.moves.scrollTop = this.moves.scrollHeight;
    }
    const scores = written.map((_, place) => {
      const [cp, mate] = history.scores[place] ?? [null, null];
      return { cp, mate, expected: expectedScore({ cp, mate }) };
    });
    const known = scores.filter(({ expected }) => expected != null);
    this.score = known.at(-1);
    this.graph.replaceChildren(...(known.length < 2 ? [] : [
      course("chess", 0.5, scores, written.length, say("evaluation graph", { score: scoreText(known.at(-1)) }))]));
  }

  kind() {
    return this.board.drawing.kind ?? this.board.drawing.type;
  }

  draw() {
    const { board, last, end } = this;
    this.view.show(withPlayers(board.drawing, board), { variant: board.variant, flipped: this.flipped, label: `${board.white} – ${board.black}. ${last}. ${end}` });
  }

  show(board) {
    this.board = board;
    this.since = performance.now();
    this.title.textContent = say("board", { number: this.name });
    this.turn = board.result ? "" : board.turn;
    for (const side of Object.values(this.sides)) {
      const name = board[side.colour] ?? "?";
      side.who.replaceChildren(element("span", { class: `disc ${side.colour}` }),
        element("span", { class: "hidden-words" }, say(side.colour)), ` ${name}`);
      side.who.title = name;
      const said = board[`${side.colour}_said`];
      side.score.textContent = said && !isMated(board) ? `${scoreText(said)} ${say("depth", { depth: said.depth ?? "?" })}` : "";
      const moves = said?.ply ? numberedMoves(this.history, this.kind(), said.line, said.ply - 1) : [];
      side.line.replaceChildren(element("b", {}, isMated(board) ? "" : scoreText(said ?? {})), ` ${moves.join(" ")}`);
      side.line.hidden = !moves.length;
      side.node.classList.toggle("turn", this.turn === side.colour);
    }
    const { written } = this.history;
    const [last = say("no move")] = numberedMoves(this.history, this.kind(), written.slice(-1), written.length - 1);
    const end = board.result ? `${board.result} ${ending(board)}` : "";
    // The search of the next move, once it has a score, or the last move.
    const searched = board[`${this.turn}_said`];
    const score = searched?.ply > written.length ? searched : this.score;
    this.balance.show(expectedScore(score), say("evaluation", { score: isMated(board) ? board.result : scoreText(score) }));
    this.news.textContent = end || (this.large ? "" : last); // the large board has a list of moves
    this.analysing.hidden = !written.length || !ANALYSED.includes(this.kind());
    Object.assign(this, { last, end });
    this.draw();
    if (this.large && last !== this.said) {
      this.said = last;
      live.textContent = `${last} ${end}`;
    }
    this.tick();
  }

  tick() {
    if (!this.board) return;
    const gone = (performance.now() - this.since) / 1000;
    for (const side of Object.values(this.sides)) {
      const left = this.board[`${side.colour}_clock`];
      side.clock.textContent = clockText(left == null ? null : left - (this.turn === side.colour ? gone : 0));
    }
  }
}

// One tournament.

async function showTournament() {
  const state = {};
  const boards = new Map();
  const heading = element("h1", {});
  const status = element("p", {});
  const trouble = element("p", { class: "error", role: "alert" });
  const parts = {};
  for (const name of ["boards", "standings", "crosstable", "bracket", "curves", "games"]) {
    parts[name] = element("section", { hidden: true });
  }
  const grid = element("div", { class: "boards" });
  parts.boards.append(element("h2", {}, say("boards")), grid);
  const replay = element("section", { hidden: true });
  if (only) main.replaceChildren(live, trouble);
  else main.replaceChildren(heading, status, trouble, live, ...Object.values(parts), replay);

  /** Show a board. fresh: whether its moves have changed. */
  function showBoard(name, fresh) {
    const place = name.split("/")[1];
    if (only && place !== only) return;
    if (!boards.has(place)) {
      boards.set(place, new Board(place, Boolean(only)));
      if (only) main.append(boards.get(place).node);
      else {
        const sorted = [...boards.keys()].sort((a, b) => a - b);
        grid.replaceChildren(...sorted.map((key) => boards.get(key).node));
        parts.boards.hidden = false;
      }
    }
    const board = boards.get(place);
    // The moves are sent when they change.
    board.board = state[name];
    if (fresh) board.record(state[`history/${place}`]);
    board.show(state[name]);
  }

  function showStatus() {
    const now = state.status ?? {};
    heading.textContent = now.name ? titled(now.name, now.players) : say("title");
    document.title = `${only ? `${say("board", { number: only })} · ` : ""}${now.name ?? ""} · Kempelen`;
    status.textContent = say("progress", {
      state: stateText(now, state.runner), played: now.played ?? 0, asked: now.asked ?? 0,
      format: now.format ? say(now.format) : "",
      time: (now.time ?? "").replace(/\/move|nodes|depth|playouts/g, (word) => say(`time ${word}`)),
    }) + (now.reason ? ` (${now.reason})` : "");
    trouble.textContent = [state.problem, ...(now.notices ?? []).slice(-1)].filter(Boolean).join(" · ");
  }

  function showStandings() {
    const now = state.standings;
    if (!now || only) return;
    const swiss = now.rows.some((row) => row.buchholz != null);
    const headings = ["", say("player"), "Elo", "±", say("points"), say("games"), say("wins"),
      say("draws"), say("losses"), say("failures"), ...(swiss ? ["Buchholz", "S-B"] : [])];
    const rows = now.rows.map((row, place) => [String(place + 1), row.name, eloText(row.elo),
      row.error == null ? "" : row.error.toFixed(0), points(row.points), ...[row.games, row.wins,
        row.draws, row.losses, row.failures].map(String),
      ...(swiss ? [points(row.buchholz), points(row.sonneborn_berger)] : [])]);
    parts.standings.replaceChildren(element("h2", {}, say("standings")),
      table(say("standings"), headings, rows, 1), ...comparison(now.comparison));
    parts.standings.hidden = false;
    const crossed = now.players.length > 2;
    parts.crosstable.hidden = !crossed;
    if (crossed) {
      parts.crosstable.replaceChildren(element("h2", {}, say("cross-table")),
        table(say("cross-table"), ["", ...now.players.map((name, row) => [String(row + 1), name])],
          now.players.map((name, row) => [`${row + 1}. ${name}`, ...now.crosstable[row].map(
            (value, column) => (row === column ? "–" : points(value)))])));
    }
    parts.bracket.hidden = !now.bracket;
    if (now.bracket) parts.bracket.replaceChildren(element("h2", {}, say("bracket")), bracket(now));
  }

  function comparison(found) {
    if (!found) return [];
    const said = [];
    const estimate = found.estimate;
    if (estimate) {
      const los = estimate.los == null ? "" : ` · LOS ${(100 * estimate.los).toFixed(1)} %`;
      const elo = estimate.elo?.value ?? estimate.elo?.mean ?? estimate.elo;
      if (typeof elo === "number") said.push(`${found.first} – ${found.second}: Elo ${eloText(elo)}${los}`);
    }
    if (found.test) {
      const { llr, lower, upper, decision } = found.test;
      said.push(`SPRT: ${signed(llr, 2)} (${lower.toFixed(2)}, ${upper.toFixed(2)}) · ${say(decision)}`);
    }
    return said.map((line) => element("p", {}, line));
  }

  function bracket(now) {
    const rounds = now.bracket.map((round, place) => element("ol", {
      "aria-label": say("round", { number: place + 1 }),
    }, ...round.map((match) => element("li", {},
      ...[[match.first, match.first_points], [match.second, match.second_points]].map(([name, score]) =>
        element("div", { class: match.winner != null && match.winner === name ? "won" : "" },
          name == null ? say("free") : match.second == null ? name : `${name} ${points(score)}`))))));
    const winner = now.winner ? element("p", {}, say("winner", { name: now.winner })) : null;
    return element("div", {}, element("div", {
      class: "wide bracket", tabindex: "0", role: "region", "aria-label": say("bracket"),
    }, ...rounds), winner);
  }

  function showCurves() {
    const list = state.curve?.points;
    if (!list?.length || only) return;
    const names = (state.status?.players ?? state.standings?.players ?? []).slice(0, list[0].elo.length);
    const shown = names.length === 2 ? names.slice(0, 1) : names;
    const lines = shown.map((_, player) => list.map((each) => [each.played, each.elo[player], each.error[player]]));
    const made = [element("h2", {}, say("curves")), element("h3", {}, say("elo curve"))];
    made.push(curves(lines, [], say("elo label", { elo: eloText(list.at(-1).elo[0]), name: names[0] ?? "" })));
    made.push(element("ul", { class: "legend" }, ...shown.map((name, place) => element("li", {},
      shape("svg", { viewBox: "0 0 10 10", class: `key colour${place % 6}`, "aria-hidden": "true" },
        shape("rect", { width: 10, height: 10 })), ` ${name}`))));
    const test = state.standings?.comparison?.test;
    if (test) {
      made.push(element("h3", {}, say("test curve")));
      made.push(curves([list.map((each) => [each.played, each.llr, null])], [
        [test.lower, test.lower.toFixed(2)], [test.upper, test.upper.toFixed(2)],
      ], say("test label", { llr: signed(test.llr, 2) })));
    }
    parts.curves.replaceChildren(...made.filter(Boolean));
    parts.curves.hidden = false;
  }

  // The latest finished games. Earlier games are loaded on request.
  const list = element("ul", { class: "games" });
  const more = element("button", { type: "button" }, say("more"));
  parts.games.append(element("h2", {}, say("finished games")), list, more);
  let newest = -1, oldest = Infinity, asking = false, again = false;

  function gameItem(game) {
    const text = `${game.white} – ${game.black}  ${game.result}`;
    return element("li", {}, element("a", { href: `#game=${encodeURIComponent(game.key)}` }, text), " ",
      element("span", { class: "faint" }, ending(game)));
  }

  async function listGames() {
    if (asking || only) { again = true; return; }
    asking = true;
    again = false;
    try {
      const { games } = await ask(`/watch/${number}/games`);
      const fresh = games.filter((game) => game.number > newest);
      if (fresh.length) {
        if (newest >= 0) live.textContent = `${fresh[0].white} – ${fresh[0].black}: ${fresh[0].result}`;
        newest = fresh[0].number;
        oldest = Math.min(oldest, fresh.at(-1).number);
        list.prepend(...fresh.map(gameItem));
      }
      parts.games.hidden = !list.children.length;
      more.hidden = oldest === 0;
    } finally {
      asking = false;
    }
    if (again) listGames();
  }
  more.addEventListener("click", async () => {
    const { games } = await ask(`/watch/${number}/games?before=${oldest}`);
    list.append(...games.map(gameItem));
    oldest = games.length ? games.at(-1).number : 0;
    more.hidden = oldest === 0;
  });

  async function showReplay() {
    const key = new URLSearchParams(location.hash.slice(1)).get("game");
    replay.hidden = !key || Boolean(only);
    replayStep = null;
    if (replay.hidden) return;
    try {
      const game = await ask(`/watch/${number}/games/${encodeURIComponent(key)}`);
      replay.replaceChildren(...replayed(game));
      replay.querySelector("h2").focus();
      replay.scrollIntoView();
    } catch (error) {
      replay.replaceChildren(element("p", { class: "error", role: "alert" }, say(error.message)));
    }
  }

  function take(changes, whole) {
    if (whole) for (const key of Object.keys(state)) delete state[key];
    const points = changes.curve?.more;
    if (points) changes.curve = { points: [...(state.curve?.points ?? []), ...points] };
    Object.assign(state, changes);
    showStatus();
    const has = (name) => name in changes;
    if (has("standings")) showStandings();
    if (has("curve") || has("standings")) showCurves();
    for (const name of Object.keys(changes)) {
      if (name.startsWith("boards/")) showBoard(name, has(name.replace("boards", "history")));
    }
    if (has("finished") && changes.finished) listGames();
  }

  channel(`/watch/${number}/channel`, (message) => {
    if (message.kind === "all") take(message.state, true);
    else if (message.kind === "change") take(message.state, false);
    else if (message.kind === "absent") trouble.textContent = say("absent");
  });
  setInterval(() => {
    // Clocks stop when the tournament stops.
    if (state.status?.state !== "running" || state.runner === "lost") return;
    for (const board of boards.values()) board.tick();
  }, 250);
  addEventListener("hashchange", showReplay);
  await showReplay();
}

// Steps through the shown finished game.
let replayStep = null;
document.addEventListener("keydown", (event) => {
  const step = stepOf(event);
  if (!step || !replayStep) return;
  event.preventDefault();
  replayStep(step);
});

// The big screen: one board without the rest of the page. The address keeps it for a link.

const onScreen = () => new URLSearchParams(location.search).has("screen");

function showScreen(on) {
  history.replaceState(null, "", location.pathname + (on ? "?screen" : ""));
  document.body.classList.toggle("screen", on);
  // A browser without full screen, or a page without a click, shows it in its window.
  if (on && !document.fullscreenElement) document.documentElement.requestFullscreen?.().catch(() => {});
  else if (!on && document.fullscreenElement) document.exitFullscreen();
}

if (only) {
  document.body.classList.toggle("screen", onScreen());
  document.addEventListener("fullscreenchange", () => {
    if (!document.fullscreenElement && onScreen()) showScreen(false);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && onScreen()) showScreen(false);
  });
}

/** Show a finished game, with controls to step through the moves. */
function replayed(game) {
  const view = createBoard();
  const balance = bar("chess");
  const said = element("p", { "aria-live": "polite" });
  const graph = element("div", {});
  const name = (place, full) => {
    const { move, chance } = game.positions[place + 1];
    return game.game === "chess" ? numbered(game.positions[place], move, place, full)
      : `${place + 1}. ${worded(played, game.positions[0].kind, move, chance)}`;
  };
  const scores = game.positions.slice(1).map((_, place) => {
    const info = game.said[place - game.book];
    return { ...info, expected: expectedScore(info) };
  });
  const moves = element("div", { class: "moves", tabindex: "0", role: "group", "aria-label": say("moves") });
  const last = game.positions.length - 1;
  let at = last;
  let flipped = false;
  const buttons = scores.map((_, place) =>
    element("button", { type: "button", onclick: () => go(place + 1) }, name(place)));
  moves.append(...buttons);

  function go(place) {
    at = Math.max(0, Math.min(last, place));
    const position = game.positions[at];
    const info = game.said[at - 1 - game.book];
    const words = at ? name(at - 1, true) : say("start");
    const mated = at === last && isMated(game);
    const value = mated ? game.result : scoreText(info);
    const score = info ? `${mated ? "" : value} ${clockText(info.clock)}` : at && at <= game.book ? say("book") : "";
    said.textContent = `${words} ${score}${at === last ? ` · ${game.result} ${ending(game)}` : ""}`;
    view.show(withPlayers(position, game), { variant: game.variant, flipped, label: `${game.white} – ${game.black}. ${words}` });
    balance.show(scores[at - 1]?.expected, say("evaluation", { score: value }));
    if (scores.some(({ expected }) => expected != null)) {
      graph.replaceChildren(course("chess", 0.5, scores, at, say("evaluation graph", { score: value }), go));
    }
    markStep(moves, buttons, buttons[at - 1]);
  }

  replayStep = (step) => {
    if (step === "flip") flipped = !flipped;
    go({ first: 0, previous: at - 1, next: at + 1, last, flip: at }[step]);
  };
  stepByWheel(view.node, replayStep);
  const steps = element("div", { class: "steps", role: "group", "aria-label": played("replay") },
    ...stepButtons(played, replayStep),
    ...(ANALYSED.includes(game.game)
      ? [element("a", { class: "button", href: `/analyse?watched=${number}/${encodeURIComponent(game.key)}` }, played("analyse"))] : []),
    element("a", { href: `/watch/${number}/games/${encodeURIComponent(game.key)}/record` }, played("download")));
  const grid = element("div", { class: "replay" },
    element("div", {}, element("div", { class: "table" }, balance.node, view.node), steps, said),
    element("div", {}, graph, moves));
  go(last);
  return [element("h2", { tabindex: "-1" }, `${game.white} – ${game.black}  ${game.result}`), grid];
}

async function showList() {
  const { tournaments } = await ask("/watch/tournaments");
  if (tournaments.length === 1) {
    location.replace("/watch/1");
    return;
  }
  const items = tournaments.map(({ number: place, name, status }) => element("li", {},
    element("a", { href: `/watch/${place}` }, titled(name, status.players, place)), " ",
    element("span", { class: "faint" }, `${stateText(status, "")} ${status.played ?? 0}/${status.asked ?? 0}`)));
  main.replaceChildren(element("h1", {}, say("title")), items.length
    ? element("ul", {}, ...items)
    : element("div", {}, element("p", {}, say("nothing")),
      element("pre", { tabindex: "0" }, "kempelen web --watch run.sqlite\nkempelen web --mqtt mqtt://HOST")));
  if (!items.length) setTimeout(showList, 3000);
}

if (number) await showTournament();
else await showList();
