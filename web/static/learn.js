// The page to learn on: the lab's pages that whoever runs the server has put there, and a form that
// has one made, of an algorithm's steps.

import { ask, element, language, words } from "./site.js";

const say = await words("learn");
const played = await words("play");
const lessons = await ask("/lessons");
const { games = {}, depth = [1, 1] } = await ask("/lessons/choices");
const main = document.getElementById("main");
main.append(element("h1", {}, say("title")));
if (lessons.length) {
  main.append(element("p", {}, say("explanation")), element("ul", {}, ...lessons.map((lesson) =>
    element("li", {}, element("a", { href: `/lessons/${encodeURIComponent(lesson.name)}` },
      lesson.title)))));
} else {
  main.append(element("p", { class: "faint" }, say("none")));
}

if (Object.keys(games).length) {
  const select = (name, all, chosen, called = (each) => each) =>
    element("select", { id: name, name }, ...all.map((each) =>
      element("option", { value: each, selected: each === chosen }, called(each))));
  const game = select("game", Object.keys(games), "tic-tac-toe",
    (each) => played.named("game", each));
  const algorithm = select("algorithm", games[game.value], "alpha-beta");
  const plies = element("input", {
    id: "depth", name: "depth", type: "number", min: depth[0], max: depth[1], value: 3 });
  game.addEventListener("change", () => {
    const options = select("algorithm", games[game.value], algorithm.value).children;
    algorithm.replaceChildren(...options);
  });
  const field = (key, control) =>
    element("p", { class: "field" }, element("label", { for: control.id }, say(key)), control);
  main.append(element("h2", {}, say("steps")),
    element("form", { action: "/lessons/steps", method: "post" }, field("game", game),
      field("algorithm", algorithm), field("depth", plies),
      element("input", { type: "hidden", name: "language", value: language }),
      element("p", {}, element("button", { class: "main", type: "submit" }, say("show")))));
}
