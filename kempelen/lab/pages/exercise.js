"use strict";

// Parse and mark answers like kempelen/lab/exercises/marking.py, with the same patterns.
const exerciseMarks = (() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const reading = data.reading;

  function normalNumber(text) {
    const sign = /^[-\u2212]/.test(text) ? -1 : 1;
    const size = text.replace(/^[-+\u2212]/, "");
    if (size === "∞" || size === "inf" || size === "oo") {
      return sign < 0 ? "-∞" : "∞";
    }
    return String(sign * Number(size));
  }

  const NORMAL = {
    label: (text) => (/^[0-9]/.test(text) ? text : "ε"),
    sign: (text) => reading.signs[text] ?? text,
    word: (text) => text.toUpperCase(),
    number: normalNumber,
  };

  // Return the parts of an answer in normal form; throw an Error with the invalid text.
  function parts(form, text) {
    const shape = reading.forms[form];
    const pattern = new RegExp(shape.pattern, "y");
    const separators = new RegExp(reading.separators, "y");
    const found = [];
    const after = (place) => {
      separators.lastIndex = place;
      separators.exec(text);
      return separators.lastIndex;
    };
    text = text.toLowerCase();
    if (text.length > reading.longest) {
      throw new Error(text.slice(0, 20) + "…");
    }
    for (let place = after(0); place < text.length; place = after(pattern.lastIndex)) {
      pattern.lastIndex = place;
      const match = pattern.exec(text);
      if (match === null) {
        throw new Error(text.slice(place, place + 20));
      }
      const fields = shape.fields.map((kind, index) => NORMAL[kind](match[index + 1]));
      found.push(shape.normal.replace(/[{]([0-9])[}]/g, (_, index) => fields[Number(index)]));
    }
    return found;
  }

  // The length of the longest common subsequence.
  function commonLength(key, answer) {
    let lengths = new Array(answer.length + 1).fill(0);
    for (const expected of key) {
      const next = [0];
      answer.forEach((actual, index) => {
        next.push(expected === actual ? lengths[index] + 1 : Math.max(lengths[index + 1], next[index]));
      });
      lengths = next;
    }
    return lengths[answer.length];
  }

  function mark(key, answer, ordered) {
    let given = answer;
    let rightParts, wrong;
    if (ordered) {
      let same = 0;
      while (same < Math.min(key.length, answer.length) && key[same] === answer[same]) {
        same += 1;
      }
      rightParts = commonLength(key, answer);
      wrong = answer.slice(same, same + 1);
    } else {
      given = [...new Set(answer)];
      wrong = given.filter((each) => !key.includes(each));
      rightParts = given.length - wrong.length;
    }
    return {
      right: rightParts === key.length && given.length === key.length,
      points: Math.max(0, rightParts - Math.max(0, given.length - key.length)),
      parts: key.length,
      wrong,
    };
  }

  return { data, parts, mark };
})();

(() => {
  const { data, parts, mark } = exerciseMarks;
  const { words, exercises } = data;
  // Pixels between leaves, between levels, and around the tree; minimum scale.
  const GAP = 50, LEVEL = 84, MARGIN = 40, LEAST = 0.65;
  const tried = exercises.map(() => ({ answers: [], first: null, right: false, solved: false }));
  let current = 0;
  let isSaved = true;

  function filled(text, ...values) {
    let index = 0;
    return text.replace(/[{][}]/g, () => String(values[index++]));
  }

  function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      made.setAttribute(key, value);
    }
    made.append(...children);
    return made;
  }

  function drawn(name, attributes, text) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) {
      made.setAttribute(key, value);
    }
    if (text !== undefined) {
      made.textContent = text;
    }
    return made;
  }

  const parent = document.getElementById("page");
  const tabs = element("nav", { id: "exercises" });
  const title = element("h2", { id: "title" });
  const tree = element("div", { id: "tree" });
  const question = element("div", { id: "question" });
  const hint = element("p", { class: "hint" });
  const answer = element("input", {
    id: "answer", "aria-label": words.answer, autocomplete: "off", spellcheck: "false",
    maxlength: data.reading.longest,
  });
  const check = element("button", { id: "check", type: "submit" }, words.check);
  const show = element("button", { id: "show", type: "button" }, words.show);
  const form = element("form", { id: "form" }, answer, check, show);
  const feedback = element("p", { id: "feedback", role: "status" });
  const solution = element("div", { id: "solution" });
  const previous = element("button", { id: "previous", type: "button" }, words.previous);
  const next = element("button", { id: "next", type: "button" }, words.next);
  const count = element("p", { id: "count", role: "status" });
  const name = element("input", { id: "name", "aria-label": words.name, maxlength: 100 });
  name.placeholder = words.name;
  name.value = data.name;
  const save = element("button", { id: "save", type: "button" }, words.save);
  parent.append(
    element("h1", {}, data.title), tabs, title, tree, question, hint, form, feedback, solution,
    element("nav", {}, previous, next), element("footer", {}, count, name, save),
  );
  exercises.forEach((each, index) => {
    const tab = element("button", { type: "button", title: each.title }, String(index + 1));
    tab.setAttribute("aria-label", `${words.exercise} ${index + 1}: ${each.title}`);
    tab.addEventListener("click", () => go(index));
    tabs.append(tab);
  });

  // The text that a click on a node inserts.
  const WRITTEN = {
    labels: (label) => label,
    values: (label) => `${label}=`,
    bounds: (label) => label,
    states: (label) => `(${label}, `,
    tests: (label) => label,
    windows: (label) => `${label}(`,
    passes: () => "",
    fractions: (label) => `${label}=`,
    intervals: (label) => `${label}=[`,
    terms: () => "",
  };

  function write(label) {
    const before = answer.value.trimEnd();
    const space = before === "" || /[(]$/.test(before) ? "" : " ";
    answer.value = before + space + WRITTEN[exercises[current].form](label);
    answer.focus();
  }

  function drawTree(nodes) {
    const width = Math.max(...nodes.map((node) => node.x)) * GAP + 2 * MARGIN;
    const height = Math.max(...nodes.map((node) => node.y)) * LEVEL + 2 * MARGIN + 10;
    const image = drawn("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
    image.style.minWidth = `${LEAST * width}px`;
    const place = (node) => [node.x * GAP + MARGIN, node.y * LEVEL + MARGIN];
    const byLabel = new Map(nodes.map((node) => [node.label, node]));
    for (const node of nodes) {
      if (node.parent !== null) {
        const [x1, y1] = place(byLabel.get(node.parent));
        const [x2, y2] = place(node);
        image.append(drawn("line", { x1, y1, x2, y2 }));
        if (node.chance) {
          const middle = { x: (x1 + 2 * x2) / 3, y: (y1 + 2 * y2) / 3, class: "name" };
          image.append(drawn("text", middle, node.chance));
        }
      }
    }
    for (const node of nodes) {
      const [x, y] = place(node);
      const mover = node.leaf && node.text !== "" ? "" : words[node.mover] || node.mover;
      const group = drawn("g", {
        class: "node", tabindex: 0, role: "button",
        "aria-label": `${node.label} ${mover} ${node.text}`.trim(), "data-label": node.label,
      });
      const kind = node.leaf ? "leaf" : node.mover.toLowerCase();
      group.append(
        kind !== "min"
          ? drawn("rect", { x: x - 21, y: y - 14, width: 42, height: 28, class: kind })
          : drawn("ellipse", { cx: x, cy: y, rx: 23, ry: 16, class: kind }),
        drawn("text", { x, y: y + 4 }, node.text || mover),
        drawn("text", { x, y: y + 29, class: "name" }, node.label),
      );
      group.addEventListener("click", () => write(node.label));
      group.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") {
          event.preventDefault();
          write(node.label);
        }
      });
      image.append(group);
    }
    tree.replaceChildren(image);
  }

  function go(index) {
    current = Math.max(0, Math.min(exercises.length - 1, index));
    const exercise = exercises[current];
    title.textContent = `${current + 1}. ${exercise.title}`;
    drawTree(exercise.nodes);
    question.replaceChildren(...exercise.question.map((text) => {
      return element("p", /^[0-9]/.test(text) ? { class: "row" } : {}, text);
    }));
    hint.textContent = `${words.example}: ${exercise.example}. ${words.click} ${words.rule}`;
    answer.value = tried[current].answers.at(-1) ?? "";
    say("", "");
    refresh();
  }

  function say(text, kind) {
    feedback.textContent = text;
    feedback.className = kind;
  }

  function refresh() {
    const mine = tried[current];
    const isOver = mine.right || mine.solved;
    answer.disabled = check.disabled = show.disabled = isOver;
    previous.disabled = current === 0;
    next.disabled = current === exercises.length - 1;
    solution.replaceChildren();
    if (isOver) {
      const exercise = exercises[current];
      solution.append(
        element("p", { id: "key" }, `${words.key}: ${exercise.written}`),
        element("ol", {}, ...exercise.explanation.map((text) => element("li", {}, text))),
      );
    }
    [...tabs.children].forEach((tab, index) => {
      tab.className = tried[index].right ? "right" : tried[index].solved ? "solved" : "";
      tab.setAttribute("aria-current", String(index === current));
    });
    const right = tried.filter((each) => each.right).length;
    const atOnce = tried.filter((each) => each.first === true).length;
    count.textContent = filled(words.count, right, exercises.length, atOnce);
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const exercise = exercises[current], mine = tried[current];
    const text = answer.value.trim();
    if (text === "" || mine.right || mine.solved) {
      return;
    }
    let found;
    try {
      found = mark(exercise.key, parts(exercise.form, text), exercise.ordered);
    } catch (error) {
      say(filled(words.unread, error.message, exercise.example), "wrong");
      return;
    }
    mine.answers.length = Math.min(mine.answers.length, data.reading.answers - 1);
    mine.answers.push(text);
    mine.first ??= found.right;
    mine.right = found.right;
    isSaved = false;
    refresh();
    if (found.right) {
      say(words.right, "right");
      (next.disabled ? save : next).focus();
      return;
    }
    const why = exercise.ordered ? words.outOfPlace : words.notRight;
    const wrong = found.wrong.length ? `; ${why}: ${found.wrong.join(", ")}` : "";
    say(`${words.wrong}: ${filled(words.points, found.points, found.parts)}${wrong}`, "wrong");
  });
  show.addEventListener("click", () => {
    tried[current].solved = true;
    isSaved = false;
    say("", "");
    refresh();
  });
  previous.addEventListener("click", () => go(current - 1));
  next.addEventListener("click", () => go(current + 1));
  save.addEventListener("click", () => {
    const link = element("a", { download: "results.json" });
    link.href = URL.createObjectURL(new Blob([results()], { type: "application/json" }));
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    isSaved = true;
  });
  window.addEventListener("beforeunload", (event) => {
    if (!isSaved) {
      event.preventDefault();
    }
  });

  // The results file: exercises that were attempted, or whose key was shown.
  function results() {
    const told = exercises.map((each, index) => ({
      ...each.origin, answers: tried[index].answers, solved: tried[index].solved,
    }));
    return JSON.stringify({
      ...data.results,
      name: name.value.trim(),
      exercises: told.filter((each) => each.answers.length > 0 || each.solved),
    }, null, 1);
  }

  exerciseMarks.results = results;
  go(0);
})();
