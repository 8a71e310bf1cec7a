// The play page: a game if the URL names one, otherwise the form and the saved games.

import { element, words } from "./site.js";

const say = await words("play");
const main = document.getElementById("main");
const game = location.pathname.split("/")[2];

if (game) {
  const { showGame } = await import("./game.js");
  showGame(main, game, say);
} else {
  const { showStart } = await import("./start.js");
  main.append(element("h1", {}, say("title")));
  showStart(main, say);
}
