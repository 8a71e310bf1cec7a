// The learn page: the server's pages of the lab, and a form for a page with the steps of an
// algorithm on a game or on the visitor's own tree. That page is shown in a sandboxed frame, and
// sends a tree that is edited there to this page.

import { ask, element, language, sortedByText, words } from "./site.js";

const say = await words("learn");
const played = await words("play");
const lessons = await ask("/lessons");
const { games = {}, depth = [1, 1], tree = ["", 0], remarks = {} } = await ask("/lessons/choices");
const main = document.getElementById("main");
const asked = location.pathname.split("/")[2];
const lesson = lessons.find(({ name }) => encodeURIComponent(name) === asked);
main.append(element("h1", {}, lesson?.title ?? say("title")));
if (asked) {
  main.append(element("p", {}, element("a", { href: "/learn" }, say("all pages"))), lesson
    ? element("iframe", { src: `/lessons/${asked}`, title: lesson.title })
    : element("p", { class: "error", role: "alert" }, say("page not found")));
} else if (lessons.length) {
  main.append(element("p", {}, say("explanation")), element("ul", {}, ...lessons.map((each) =>
    element("li", {}, element("a", { href: `/learn/${encodeURIComponent(each.name)}` },
      each.title)))));
} else {
  main.append(element("p", { class: "faint" }, say("none")));
}

if (!asked && Object.keys(games).length) {
  const options = (all, chosen, called = (each) => each) => all.map((each) =>
    element("option", { value: each, selected: each === chosen }, called(each)));
  const select = (name, ...choices) => element("select", { id: name, name }, ...options(...choices));
  const called = (name) => played.named("game", name);
  const game = select("game", sortedByText(Object.keys(games), called), "tic-tac-toe", called);
  const algorithm = select("algorithm", games[game.value], "alpha-beta");
  const plies = element("input", {
    id: "depth", name: "depth", type: "number", min: depth[0], max: depth[1], value: 3 });
  const own = element("textarea", {
    id: "tree", name: "tree", rows: 5, maxlength: tree[1], spellcheck: "false",
    placeholder: "[[3, 5], [2, 9]]" });
  const field = (key, control) =>
    element("p", { class: "field" }, element("label", { for: control.id }, say(key)), control);
  const fields = { depth: field("depth", plies), tree: field("tree", own) };
  const remark = element("p", { class: "faint" });
  const explain = () => {
    remark.textContent = (remarks[language]?.[algorithm.value] ?? "").trim();
  };
  algorithm.addEventListener("change", explain);
  const changed = () => {
    algorithm.replaceChildren(...options(games[game.value], algorithm.value));
    explain();
    fields.tree.hidden = game.value !== tree[0];
    fields.depth.hidden = !fields.tree.hidden;
  };
  game.addEventListener("change", changed);
  changed();
  const frame = element("iframe", { name: "steps", title: say("steps shown") });
  const shown = element("div", { hidden: true }, element("p", {}, element("button", {
    type: "button", onclick: () => frame.requestFullscreen() }, say("whole screen"))), frame);
  const form = element("form", { action: "/lessons/steps", method: "post", target: "steps" },
    field("game", game), field("algorithm", algorithm), remark, fields.depth, fields.tree,
    element("input", { type: "hidden", name: "language", value: language }),
    element("p", {}, element("button", { class: "main", type: "submit" }, say("show"))));
  form.addEventListener("submit", () => { shown.hidden = false; });
  frame.addEventListener("load", () => {
    if (shown.hidden) return;
    frame.scrollIntoView();
    frame.focus();
  });
  addEventListener("message", ({ source, data }) => {
    if (source !== frame.contentWindow || typeof data?.tree !== "string") return;
    game.value = tree[0];
    changed();
    own.value = data.tree;
    form.requestSubmit();
  });
  main.append(element("h2", {}, say("steps")), form, shown);
}
