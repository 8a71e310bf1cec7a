/* Texts in two languages, and elements that are updated when the language changes. */
"use strict";
var Kempelen = globalThis.Kempelen || {};
globalThis.Kempelen = Kempelen;

Kempelen.Language = class {
  /* texts: by language, `sentences`, `words` and `help`; unknown words are not translated. */
  constructor(texts, current) {
    this.texts = texts;
    this.listeners = [];
    this.current = current;
  }

  set(language) {
    this.current = language;
    document.documentElement.lang = language;
    for (const listener of this.listeners) listener();
  }

  word(text) {
    const words = this.texts[this.current].words;
    const whole = String(text);
    if (Object.hasOwn(words, whole)) return words[whole];
    const space = whole.indexOf(" ");
    const first = space < 0 ? whole : whole.slice(0, space);
    const known = (Object.hasOwn(words, first) ? words[first] : first) + whole.slice(first.length);
    return known.replace(/\b(WIN|LOSS)\b/g, (end) => words[end] || end);
  }

  help(key) {
    return this.texts[this.current].help[key];
  }

  sentence(key, parts) {
    return this.texts[this.current].sentences[key].replace(/\{(\d+)\}/g, (_, number) => parts[number]);
  }
};

Kempelen.element = function (tag, properties, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties || {})) {
    if (name in made) made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
};
