// The visitor's saved games: a list that can be searched, and from which games can be deleted.

import { score } from "./notation.js";
import { ask, element, language, withLevel } from "./site.js";

const MAX_LISTED = 500; // by the server
const TYPING_MS = 250;

const day = (text, later = 0) => {
  const [year, month, date] = text.split("-").map(Number);
  return new Date(year, month - 1, date + later).getTime() / 1000;
};

/** Return the list. names: those of the games; name(game): its name for visitors. */
export function savedGames(names, name, say) {
  const select = (id, options) => element("select", { id }, element("option", { value: "" }, say("any")),
    ...options.map(([value, text]) => element("option", { value }, text)));
  const game = select("search-game", names.map((each) => [each, name(each)]));
  const opponent = element("input", { id: "search-opponent", type: "search", maxlength: 100, autocomplete: "off" });
  const result = select("search-result", ["won", "lost", "drawn", "unfinished"].map((each) => [each, say(`result ${each}`)]));
  const since = element("input", { id: "search-since", type: "date" });
  const until = element("input", { id: "search-until", type: "date" });
  const field = (key, control) => element("p", { class: "field" }, element("label", { for: control.id }, say(key)), control);
  const form = element("form", { class: "fields", role: "search" }, field("game", game),
    field("opponent", opponent), field("result", result), field("since", since), field("until", until));
  const found = element("div", { role: "status", "aria-live": "polite" });
  const rows = element("div", { class: "wide", tabindex: 0, role: "region", "aria-label": say("your games") });
  const when = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });
  let timer, number = 0, any = false;

  async function show() {
    const asked = new URLSearchParams();
    if (game.value) asked.set("game", game.value);
    if (opponent.value.trim()) asked.set("opponent", opponent.value.trim());
    if (result.value) asked.set("result", result.value);
    if (since.value) asked.set("since", day(since.value));
    if (until.value) asked.set("until", day(until.value, 1));
    const current = number += 1;
    const games = await ask(`/games?${asked}`);
    if (number !== current) return;
    const all = !asked.size;
    any = all ? games.length > 0 : any;
    form.hidden = !any;
    found.textContent = games.length === MAX_LISTED ? say("only listed", { count: MAX_LISTED })
      : games.length ? (all ? "" : say("found", { count: games.length })) : say(all ? "no games" : "no such games");
    rows.replaceChildren(...(games.length ? [listed(games)] : []));
    rows.hidden = !games.length;
  }

  const complain = (error) => { found.textContent = say(error.message); };

  const variant = (each) => (each.chess960 ? say("chess960")
    : each.variant !== "chess" ? say(`variant ${each.variant}`) : null);

  function listed(games) {
    const heads = ["game", "opponent", "moves", "result", "changed", "record", "delete"].map((key) =>
      element("th", { scope: "col" }, say(key)));
    return element("table", {}, element("thead", {}, element("tr", {}, ...heads)), element("tbody", {},
      ...games.map((each) => element("tr", {},
        element("td", {}, element("a", { href: `/play/${each.id}` }, variant(each) ?? name(each.game))),
        element("td", {}, withLevel(each.opponent, each.level, say)),
        element("td", {}, String(each.game === "chess" ? Math.ceil(each.moves / 2) : each.moves)),
        element("td", {}, say(`outcome ${each.outcome}`), " ", each.result
          ? each.game === "chess" ? score(each.result) : ""
          : element("a", { href: `/play/${each.id}` }, say("continue"))),
        element("td", {}, when.format(new Date(each.changed * 1000))),
        element("td", {}, element("a", { href: `/games/${each.id}/record` }, say("download"))),
        deletion(each)))));
  }

  /** Return the cell with which a game is deleted, after a question. */
  function deletion(each) {
    const cell = element("td", {});
    const button = (key, press, more = {}) => element("button", { type: "button", onclick: press, ...more }, say(key));
    const offer = () => cell.replaceChildren(button("delete", sure, { "data-action": "delete" }));
    const sure = () => {
      cell.replaceChildren(element("span", {}, `${say("delete?")} `),
        button("yes", () => ask(`/games/${each.id}`, {}, "DELETE").then(show).catch(complain), { "data-answer": "yes" }),
        " ", button("no", offer));
      cell.querySelector("button").focus();
    };
    offer();
    return cell;
  }

  const search = () => {
    clearTimeout(timer);
    timer = setTimeout(() => show().catch(complain), TYPING_MS);
  };
  form.addEventListener("input", search);
  form.addEventListener("change", search);
  form.addEventListener("submit", (event) => event.preventDefault());
  show().catch(complain);
  return element("section", {}, element("h2", {}, say("your games")), form, found, rows);
}
