// The page to learn on: the lab's pages that whoever runs the server has put there.

import { ask, element, words } from "./site.js";

const say = await words("learn");
const lessons = await ask("/lessons");
const main = document.getElementById("main");
main.append(element("h1", {}, say("title")));
if (lessons.length) {
  main.append(element("p", {}, say("explanation")), element("ul", {}, ...lessons.map((lesson) =>
    element("li", {}, element("a", { href: `/lessons/${encodeURIComponent(lesson.name)}` },
      lesson.title)))));
} else {
  main.append(element("p", { class: "faint" }, say("none")));
}
