// Moves and evaluations as text, and the evaluation bar.

import { language, shape } from "./site.js";

// The letters of the chess pieces in the page's language.
const LETTERS = language === "es" ? { K: "R", Q: "D", R: "T", B: "A", N: "C" } : {};
const ENGLISH = Object.fromEntries(Object.entries(LETTERS).map(([english, own]) => [own, english]));

/** Return a chess move in the notation of the page's language. */
export function localSan(san) {
  return san.replace(/[KQRBN]/g, (letter) => LETTERS[letter] ?? letter);
}

/** Return a typed chess move in English notation. */
function englishSan(typed) {
  return typed.replace(/[A-Z]/g, (letter) => ENGLISH[letter] ?? letter);
}

/** Return a position of chess for the query of an address. */
export function fenQuery(fen, variant = "chess") {
  const text = `fen=${fen.replaceAll(" ", "_").replaceAll("+", "%2B")}`;
  return variant === "chess" ? text : `${text}&variant=${variant}`;
}

/**
 * Call play(move, typed) with each move that is typed in a form. isChess() tells whether it is one of
 * chess. If it resolves to false, the text is kept, to be corrected.
 */
export function onTypedMove(form, input, isChess, play) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const typed = input.value.trim();
    if (!typed) return;
    if (await play(isChess() ? englishSan(typed) : typed, typed) === false) input.select();
    else input.value = "";
  });
}

/** Return the number of half-moves before a position of chess, or null without a FEN. */
export function pliesBefore(fen) {
  if (!fen) return null;
  const fields = fen.split(" "); // variants have other fields between them
  return 2 * (Number(fields.at(-1)) - 1) + (fields[1] === "b" ? 1 : 0);
}

/**
 * Return a move with its number. before: the position before it; place: its index, from 0. full:
 * number Black's moves in chess too, as at the start of a line.
 */
export function numbered(before, move, place, full = !place) {
  const plies = pliesBefore(before.fen);
  if (plies === null) return `${place + 1}. ${move}`;
  return plies % 2 && !full ? localSan(move) : numberedLine([move], plies)[0];
}

/** Return the last move with its number. after: the position after it; count: the moves so far. */
export function lastNumbered(after, move, count) {
  const plies = pliesBefore(after.fen);
  return plies === null ? `${count}. ${move}` : numberedLine([move], plies - 1)[0];
}

/** Return moves of chess with their numbers. plies: the half-moves before them. */
export function numberedLine(moves, plies) {
  return moves.map((move, place) => {
    const number = Math.floor((plies + place) / 2) + 1;
    const black = (plies + place) % 2;
    return `${!black ? `${number}. ` : place ? "" : `${number}... `}${localSan(move)}`;
  });
}

/**
 * Return a move of any game in the page's language, such as Cf3 or barra/22. say: the words of the
 * page Play. roll: whether it is a roll of dice.
 */
export function worded(say, kind, move, roll = false) {
  if (roll) return say("dice", { dice: [...move].join("-") });
  if (kind === "chess") return localSan(move);
  return move.replace(/^(roll|hold|pass)$|\b(bar|off)\b/g, (word) => say.named("move", word));
}

const DECIMAL_MARK = (0.5).toLocaleString(language)[1];

// The odds of a win grow by this factor per centipawn, as in move_annotation.py.
const LOG_ODDS_PER_CENTIPAWN = 0.00368208;

/** Return the expected score for an evaluation from the same point of view, or null. */
export function expectedScore({ cp, mate } = {}) {
  if (mate != null) return Number(mate > 0);
  return cp == null ? null : 1 / (1 + Math.exp(-LOG_ODDS_PER_CENTIPAWN * cp));
}

/** Return the class of evaluations by colour: white is the first player in chess, black in other games. */
export const firstColour = (game) => (game === "chess" ? "chess" : "go");

/** Create the evaluation bar. show(share) sets the first player's expected score, 0 to 1. */
export function bar(game) {
  const own = shape("rect", { x: 0, width: 10, class: game === "chess" ? "white" : "black" });
  const drawn = shape("svg", {
    viewBox: "0 0 10 100", preserveAspectRatio: "none", role: "img", class: `bar ${firstColour(game)}`,
  }, own);
  function show(share, label) {
    const height = Math.round((share ?? 0.5) * 1000) / 10;
    own.setAttribute("y", 100 - height);
    own.setAttribute("height", height);
    drawn.setAttribute("aria-label", label);
  }
  show(null, "");
  return { node: drawn, show };
}

/** Return the result of a game as it is shown: 1-0, 0-1 or ½-½. */
export function score(result) {
  return result.replaceAll("1/2", "½");
}

/** Return in words how the rules of a game or variant ended it, or "" if there are no words for it. */
export function endByRules(say, rules, isDraw) {
  const words = say.named(isDraw ? "draw of" : "end of", rules);
  return words === rules ? "" : words;
}

// Results of SGF that name no winner, and their keys.
const WITHOUT_WINNER = { 0: "a draw", Draw: "a draw", Void: "no result", "?": "unknown result" };

/**
 * Return a result of Go, such as B+73.5 or W+R, in the page's language, and another text as it is. say:
 * the words of the page Play.
 */
export function goResult(text, say) {
  const [all, winner, margin, reason = ""] = /^([BW])\+(?:(\d[\d.]*)|([RTF])\w*)?$/.exec(text) ?? [];
  if (!all) return Object.hasOwn(WITHOUT_WINNER, text) ? say(WITHOUT_WINNER[text]) : text;
  return margin ? `${say(`letter ${winner}`)}+${Number(margin).toLocaleString(language)}` : say(`${winner}+${reason}`);
}

/** Return a number with a number of digits after the decimal mark, in the page's language; null as "". */
export function fixed(value, digits = 0) {
  return value == null ? ""
    : value.toLocaleString(language, { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** Return a rounded number with its sign. Zero has none. */
export function signed(value, digits) {
  const text = value.toFixed(digits), rounded = Number(text);
  return rounded > 0 ? `+${text}` : rounded < 0 ? text : text.replace("-", "");
}

/** Return an evaluation as text, from the first player's point of view. */
export function scoreText({ cp, mate, lead, expected } = {}) {
  if (mate != null) return `#${mate}`;
  if (lead != null) return signed(lead, 1).replace(".", DECIMAL_MARK);
  if (cp != null) return signed(cp / 100, 2);
  return expected == null ? "" : `${Math.round(expected * 100)} %`;
}
