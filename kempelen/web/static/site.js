// Shared by all pages: theme and language switches, DOM helpers, translations and requests.

export const language = document.documentElement.lang;

/** Save a setting in a cookie, which the server reads when it renders a page. */
function remember(name, value) {
  document.cookie = `${name}=${value}; path=/; max-age=31536000; samesite=strict`;
}

document.getElementById("theme").addEventListener("change", (event) => {
  document.documentElement.dataset.theme = event.target.value;
  remember("theme", event.target.value);
});
document.getElementById("language").addEventListener("change", (event) => {
  remember("language", event.target.value);
  location.reload();
});

/** Create a switch whose state is kept in this browser. */
export function remembered(name, label, initial) {
  const key = `kempelen.${name}`;
  const box = element("input", { type: "checkbox", "data-switch": name });
  box.checked = (localStorage.getItem(key) ?? String(initial)) === "true";
  box.addEventListener("change", () => localStorage.setItem(key, String(box.checked)));
  return { node: element("label", { class: "switch" }, box, label), get on() { return box.checked; } };
}

/** Return the names of games in the order of their texts in the page's language. called(name): the text. */
export function sortedByText(names, called) {
  return [...names].sort((one, other) => called(one).localeCompare(called(other), language));
}

/** Return an opponent's name with its level in the page's language. */
export function withLevel(name, level, say) {
  return level ? name.replace(level, say(`level ${level}`)) : name;
}

/** Create an element; children are elements or text, which is never parsed as HTML. */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value != null) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child != null));
  return made;
}

/** Create an SVG element. */
export function shape(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value != null && value !== false) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

/** Mark one item of a list as the current step, and scroll the list to it. */
export function markStep(list, items, current) {
  for (const item of items) {
    if (item === current) item.setAttribute("aria-current", "step");
    else item.removeAttribute("aria-current");
  }
  if (current) list.scrollTop = current.offsetTop - list.offsetTop - list.clientHeight / 2;
}

/**
 * Return whether a pressed key may step through moves: it has no modifiers, and neither a field nor
 * the board uses it.
 */
export function isStepKey(event) {
  return !(event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey
    || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName));
}

/** Return the step that a pressed key means: previous, next, first, last, flip, or undefined. */
export function stepOf(event) {
  const steps = { ArrowLeft: "previous", ArrowRight: "next", Home: "first", End: "last", f: "flip" };
  return isStepKey(event) ? steps[event.key] : undefined;
}

const WHEEL_STEP = 60; // pixels; a notch of a wheel has 100 to 120

/** Call step("next") or step("previous") when the visitor turns the wheel over a node. */
export function stepByWheel(node, step) {
  let turned = 0;
  node.addEventListener("wheel", (event) => {
    if (event.ctrlKey || !event.deltaY) return; // zooms, or scrolls sideways
    event.preventDefault();
    turned = Math.sign(turned) === Math.sign(event.deltaY) ? turned : 0;
    turned += event.deltaMode ? WHEEL_STEP * Math.sign(event.deltaY) : event.deltaY;
    if (Math.abs(turned) < WHEEL_STEP) return;
    step(turned > 0 ? "next" : "previous");
    turned = 0;
  }, { passive: false });
}

/**
 * Create the buttons that step through moves, and one that flips the board. step(name) gets the name
 * of a step; say: the texts of the page Play.
 */
export function stepButtons(say, step) {
  const signs = { first: "|◀", previous: "◀", next: "▶", last: "▶|" };
  return [...Object.entries(signs).map(([name, sign]) => element("button", { type: "button",
    "aria-label": say(name), title: say(name), "data-step": name, onclick: () => step(name) }, sign)),
  element("button", { type: "button", "data-action": "flip", title: say("flip"), onclick: () => step("flip") }, say("flip"))];
}

/**
 * Load the texts of a page. Returns say(key, values), which returns a text with its {placeholders}
 * replaced. say.named(kind, name) returns the text of the key "kind name", or the name without one.
 */
export async function words(page) {
  const table = await (await fetch(`/static/words/${page}.${language}.json`)).json();
  const say = (key, values = {}) =>
    (table[key] ?? key).replace(/\{(\w+)\}/g, (placeholder, name) => values[name] ?? placeholder);
  say.named = (kind, name) => table[`${kind} ${name}`] ?? name;
  return say;
}

/** Request a JSON object from the server; throws an Error with the server's message. */
export async function ask(path, body, method = "POST", signal = undefined) {
  const options = body === undefined ? {} : {
    method,
    signal,
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  };
  const response = await fetch(path, options);
  if (response.status === 401 && path !== "/signin") location.reload();
  const answer = await response.json().catch(() => ({ error: response.statusText }));
  if (!response.ok) throw new Error(answer.error ?? response.statusText);
  return answer;
}
