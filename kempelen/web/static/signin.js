// The sign-in form: sends the token once, in the body of a request.

import { ask, element, words } from "./site.js";

const say = await words("signin");
const token = element("input", {
  id: "token", type: "password", autocomplete: "current-password", required: true,
});
const problem = element("p", { class: "error", role: "alert" });
const form = element("form", {},
  element("h1", {}, say("title")),
  element("p", {}, say("explanation")),
  element("label", { for: "token" }, say("token")), token,
  element("p", {}, element("button", { class: "main" }, say("enter"))),
  problem,
);
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    await ask("/signin", { token: token.value });
    location.reload();
  } catch (error) {
    problem.textContent = say(error.message);
  }
});
document.getElementById("main").append(form);
token.focus();
