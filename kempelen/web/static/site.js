// What every page has: the switches of the shell, and elements made without HTML in strings.

export const language = document.documentElement.lang;

/** Keep a choice of the visitor's in a cookie, which the server reads for the next page. */
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

/** Make an element; children are elements or text, which is never read as HTML. */
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

/** Make an element of a drawing. */
export function shape(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value != null && value !== false) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

/**
 * Return the words of a page: a function from a key, and what is to be put in its {places}. Its
 * `named` gives what a thing of a kind is called, or else the thing's own name.
 */
export async function words(page) {
  const table = await (await fetch(`/static/words/${page}.${language}.json`)).json();
  const say = (key, places = {}) =>
    (table[key] ?? key).replace(/\{(\w+)\}/g, (whole, name) => places[name] ?? whole);
  say.named = (kind, thing) => table[`${kind} ${thing}`] ?? thing;
  return say;
}

/** Ask the server for an object; an error has the server's words. */
export async function ask(path, body) {
  const options = body === undefined ? {} : {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  };
  const response = await fetch(path, options);
  if (response.status === 401 && path !== "/signin") location.reload();
  const answer = await response.json().catch(() => ({ error: response.statusText }));
  if (!response.ok) throw new Error(answer.error ?? response.statusText);
  return answer;
}
