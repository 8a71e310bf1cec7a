// The form for a new game, built from the server's choices, and the list of saved games.

import { keep, restore } from "./choices.js";
import { savedGames } from "./games.js";
import { ask, element, sortedByText } from "./site.js";

const SIZES = [9, 13, 19]; // of boards of Go

/** Create a form field with its label. */
function field(say, key, control) {
  control.id = `field-${key.replaceAll(" ", "-")}`;
  const option = /^option (.*)/.exec(key);
  const label = option ? say.named("option", option[1]) : say(key);
  return element("p", { class: "field" }, element("label", { for: control.id }, label), control);
}

function select(options, chosen) {
  const made = element("select");
  for (const [value, text] of options) {
    made.append(element("option", { value, selected: value === chosen }, text));
  }
  return made;
}

function number(value, low, high, step = 1) {
  return element("input", { type: "number", value, min: low, max: high, step });
}

/** Create the fields for a board's size: square until the number of rows is another one. */
function edges({ usual, bounds }) {
  const [columns, rows] = [number(usual, ...bounds), number(usual, ...bounds)];
  let before = columns.value;
  columns.addEventListener("input", () => {
    if (rows.value === before) rows.value = columns.value;
    before = columns.value;
  });
  return [columns, rows];
}

/** Call update() when the visitor changes a choice, and when the kept one is restored. */
function onChoice(choice, update) {
  for (const event of ["change", "input"]) choice.addEventListener(event, update);
}

/** Show fields only while a choice has one of some values. */
function showFor(choice, values, ...controls) {
  const update = () => {
    for (const control of controls) control.parentNode.hidden = !values.includes(choice.value);
  };
  onChoice(choice, update);
  update();
}

/** Show the form and the saved games. */
export async function showStart(main, say) {
  const choices = await ask("/games/choices");
  const asked = new URLSearchParams(location.search);
  const name = (each) => say.named("game", each.split(":").at(-1)); // for a game from a file, its class
  const names = sortedByText(Object.keys(choices.games), name);
  const which = select(names.map((each) => [each, name(each)]),
    names.includes(asked.get("game")) ? asked.get("game") : "chess");
  which.id = "field-game";
  if (!asked.size) restore("play", [which]);
  const rest = element("div");
  const trouble = element("p", { class: "error", role: "alert" });
  const form = element("form", { class: "start" }, field(say, "game", which), rest,
    element("p", {}, element("button", { class: "main", type: "submit" }, say("begin"))), trouble);
  let read = () => ({});

  function fields() {
    const chess = which.value === "chess";
    const go = which.value === "go";
    const parts = [];
    const readers = [];
    const add = (key, control, reader) => {
      parts.push(field(say, key, control));
      readers.push(() => reader(control));
    };
    const position = (key, maxlength) => add(key, element("input", { class: "from-position", type: "text",
      maxlength, spellcheck: "false", autocomplete: "off", value: asked.get(key)?.replaceAll("_", " ") ?? "" }),
    (control) => ({ [key]: control.value }));
    const engines = Object.entries(choices.engines)
      .filter(([, protocol]) => (chess && protocol !== "gtp") || (go && protocol === "gtp"));
    if (engines.length) {
      add("opponent", select([["", "Kempelen"], ...engines.map(([each]) => [each, each])], ""),
        (control) => ({ opponent: control.value }));
    }
    if (chess && choices.variants.length > 1) {
      const named = choices.variants.map((each) => [each, say(`variant ${each}`)]);
      named.splice(1, 0, ["chess960", say("chess960")]);
      const requested = asked.get("variant");
      // The server names an unknown variant.
      if (requested && !named.some(([each]) => each === requested)) named.push([requested, requested]);
      add("variant", select(named, asked.get("variant") ?? "chess"), ({ value }) =>
        (value === "chess960" ? { chess960: true } : { variant: value }));
    }
    if (chess) {
      const levels = Object.entries(choices.levels).map(([each, elo]) =>
        [elo ?? "", `${say(`level ${each}`)}${elo ? ` (${elo})` : ""}`]);
      const elo = number("", choices.elo[0], choices.elo[1]);
      const level = select(levels, String(choices.levels.casual));
      level.value = choices.levels.casual;
      elo.placeholder = `${choices.elo[0]}–${choices.elo[1]}`;
      add("level", level, (control) =>
        elo.value || !control.value ? {} : { level: Number(control.value) });
      add("or elo", elo, (control) => control.value ? { level: Number(control.value) } : {});
    } else {
      const levels = Object.entries(choices.levels_of_games).map(([each, index]) => [index ?? "", say(`level ${each}`)]);
      const level = select(levels, "");
      level.value = choices.levels_of_games.casual;
      add("level", level, (control) => control.value ? { level: Number(control.value) } : {});
    }
    const sides = ["first", "second", "random"].map((value) =>
      [value, say(chess ? `chess ${value}` : go ? `go ${value}` : `side ${value}`)]);
    add("side", select(sides, "first"), (control) => ({ side: control.value }));
    const options = {};
    for (const [key, option] of Object.entries(choices.games[which.value])) {
      if (option.two_sides) {
        const [columns, rows] = edges(option);
        const size = select([...SIZES.map((each) => [String(each), `${each}×${each}`]), ["other", say("other size")]],
          String(option.usual));
        onChoice(size, () => {
          if (size.value !== "other") columns.value = rows.value = size.value;
          columns.dispatchEvent(new Event("input")); // it remembers its value
        });
        add("option size", size, () => ({}));
        add("option width", columns, () => ({}));
        add("option height", rows, () => {
          options[key] = `${columns.value}x${rows.value}`;
          return { options };
        });
        showFor(size, ["other"], columns, rows);
        continue;
      }
      const boolean = typeof option.usual === "boolean";
      const control = boolean ? element("input", { type: "checkbox" })
        : number(option.usual, option.bounds[0], option.bounds[1],
          Number.isInteger(option.usual) ? 1 : 0.5);
      control.checked = option.usual === true;
      add(`option ${key}`, control, () => {
        options[key] = boolean ? control.checked : Number(control.value);
        return { options };
      });
    }
    if (go) {
      add("handicap", number(0, 0, choices.handicap), (control) =>
        ({ handicap: Number(control.value) }));
      add("rules", select(choices.rules.map((each) => [each, say.named("rules", each)]), "chinese"), (control) =>
        ({ rules: control.value }));
    }
    const clocks = [["", say("no clock")], ["60+0", "1+0"], ["180+2", "3+2"], ["300+3", "5+3"],
      ["600+5", "10+5"], ["1800+20", "30+20"], ["other", say("other clock")]];
    const clock = select(clocks, "");
    const [minutes, increment] = [number(15, 0.1, 360, "any"), number(10, 0, 60, "any")];
    add("clock", clock, () => ({}));
    add("minutes", minutes, () => ({}));
    add("increment", increment, () => {
      if (!clock.value) return {};
      const [base, more] = clock.value === "other" ? [60 * minutes.value, Number(increment.value)]
        : clock.value.split("+").map(Number);
      return { base, increment: more };
    });
    const seconds = number(1, 0.1, 60, 0.1);
    add("seconds", seconds, () => ({ seconds: Number(seconds.value) }));
    showFor(clock, ["other"], minutes, increment);
    showFor(clock, [""], seconds);
    const common = parts.splice(0);
    const ways = chess ? choices.searches : choices.algorithms;
    add("algorithm", select([["", say("best")], ...ways.map((each) => [each, each])], ""),
      (control) => ({ algorithm: control.value }));
    const ours = choices.own_evaluations[which.value];
    const named = chess ? { nnue: say("network"), handcrafted: say("hand-made evaluation") }
      : { handcrafted: say("own evaluation") };
    const all = [...ours.map((each) => [each, named[each]]),
      ...choices.evaluations.map((each) => [each, each])];
    add("evaluation", select(all, ours[0]), (control) => ({ evaluation: control.value }));
    if (chess) {
      position("fen", 120);
    } else if (go) {
      position("sgf", 4000);
    } else if (choices.with_position.includes(which.value)) {
      position("position", 1000);
    }
    const more = element("details", { open: ["fen", "sgf", "position"].some((key) => asked.has(key)) }, element("summary", {}, say("more")),
      element("div", { class: "fields" }, ...parts));
    rest.replaceChildren(element("div", { class: "fields" }, ...common), more);
    if (restore(`play ${which.value}`, kept()).some((control) => more.contains(control))) more.open = true;
    read = () => Object.assign({ game: which.value }, ...readers.map((reader) => reader()));
  }

  /** Return the fields of the game that are kept. A position is for one game only. */
  const kept = () => [...rest.querySelectorAll("select, input:not(.from-position)")];
  which.addEventListener("change", fields);
  form.addEventListener("change", () => {
    keep("play", [which]);
    keep(`play ${which.value}`, kept());
  });
  fields();
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    trouble.textContent = "";
    try {
      location.href = `/play/${(await ask("/games", read())).id}`;
    } catch (error) {
      trouble.textContent = say(error.message);
    }
  });
  main.append(form, savedGames(names, name, say));
}
