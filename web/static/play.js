// The page to play on.

import { element, words } from "./site.js";

const say = await words("play");
document.getElementById("main").append(element("h1", {}, say("title")));
