/* The step page: controls, description, tree, pseudo-code, lists and counts. */
"use strict";

Kempelen.LISTS = {
  stack: ["node", "window"],
  open: ["node", "state", "bound"],
  memory: ["node", "depth", "value"],
  children: ["move", "N", "W", "UCB", "P"],
};
Kempelen.COUNTS = { nodes: "nodes", leaves: "leaves", cutoffs: "cut-offs", researches: "re-searches", hits: "table hits", playouts: "playouts" };
Kempelen.MOST_ROWS = 60;

Kempelen.StepPage = class {
  constructor(root, data) {
    this.recording = data.recording;
    this.listings = [data.listing, data.otherListing];
    this.forms = [data.recording.form, data.recording.otherForm];
    this.form = 0;
    this.language = new Kempelen.Language(data.texts, data.language);
    this.replay = new Kempelen.Replay(data.recording);
    this.timer = null;
    this.chosen = 0;
    this.names = new Map();
    this.build(root);
    this.view = new Kempelen.TreeView(this.canvas, this.replay, (text) => this.language.word(text), (node) => this.choose(node));
    this.own = new Kempelen.OwnTree(this.ownPlace, this.language, this.recording, data.served);
    this.language.listeners.push(() => this.speak());
    this.language.set(this.language.current);
    if (!data.paired) document.addEventListener("keydown", (event) => this.key(event));
  }

  button(word, sign, act, place) {
    const made = Kempelen.element("button", { type: "button" });
    made.dataset.does = word;
    made.addEventListener("click", act);
    this.language.listeners.push(() => {
      made.textContent = sign || this.language.word(word);
      made.title = this.language.word(word);
      made.setAttribute("aria-label", this.language.word(word));
    });
    place.append(made);
    return made;
  }

  build(root) {
    const element = Kempelen.element;
    this.title = element("h1", { textContent: `${this.recording.algorithm}: ${this.recording.game}` });
    this.pick = element("select", {}, new Option("English", "en"), new Option("Español", "es"));
    this.pick.value = this.language.current;
    this.pick.addEventListener("change", () => this.language.set(this.pick.value));
    const header = element("header", {}, this.title, element("span", { className: "spread" }), this.pick);
    const controls = element("div", { className: "controls", role: "toolbar" });
    this.button("start", "|◀", () => this.go(0), controls);
    this.button("back", "◀", () => this.go(this.replay.at - 1), controls);
    this.playing = this.button("play", "", () => this.play(), controls);
    this.button("forward", "▶", () => this.go(this.replay.at + 1), controls);
    this.button("next cut", "✂", () => this.jump("nextCut"), controls);
    this.button("next change of a value", "Δ", () => this.jump("nextTurn"), controls);
    this.button("end", "▶|", () => this.go(this.replay.length), controls);
    this.slider = element("input", { type: "range", className: "slider", min: 0, max: this.replay.length, value: 0 });
    this.slider.addEventListener("input", () => this.go(Number(this.slider.value)));
    this.count = element("output", {});
    this.speed = element("input", { type: "range", min: 0, max: 10, value: 6 });
    controls.append(this.slider, this.count, this.speed);
    this.button("zoom out", "−", () => this.view.zoom(1 / 1.4), controls);
    this.button("zoom in", "+", () => this.view.zoom(1.4), controls);
    this.button("fit", "", () => this.view.fit(), controls);
    this.following = this.button("follow", "", () => this.follow(), controls);
    this.boarding = this.button("boards", "", () => this.boards(), controls);
    this.button("fold", "", () => this.view.fold(this.chosen), controls);
    this.button("unfold all", "", () => this.view.unfold(), controls);
    this.said = element("p", { className: "said", "aria-live": "polite" });
    controls.append(this.said);
    this.canvas = element("canvas", { tabIndex: 0 });
    this.canvas.setAttribute("role", "img");
    this.side = element("div", { className: "side", tabIndex: 0 });
    this.code = element("ol", { className: "code" });
    this.tables = element("div", {});
    this.ownPlace = element("div", { className: "own" });
    this.headings = {};
    for (const word of ["pseudo-code", "counts", "your own tree", "keys"]) this.headings[word] = element("h2", {});
    this.formed = element("button", { type: "button", hidden: !this.forms[1] });
    this.formed.addEventListener("click", () => {
      this.form = 1 - this.form;
      this.speak();
    });
    this.counts = element("table", {});
    this.keys = element("p", { className: "keys" });
    this.side.append(this.headings["pseudo-code"], this.formed, this.code, this.tables, this.headings.counts, this.counts, this.headings.keys, this.keys, this.headings["your own tree"], this.ownPlace);
    const middle = element("div", { className: "middle" }, element("div", { className: "tree" }, this.canvas), this.side);
    root.replaceChildren(header, controls, middle);
  }

  speak() {
    for (const [word, heading] of Object.entries(this.headings)) heading.textContent = this.language.word(word);
    this.pick.setAttribute("aria-label", this.language.word("language"));
    this.slider.setAttribute("aria-label", this.language.word("step"));
    this.speed.setAttribute("aria-label", this.language.word("speed"));
    this.speed.title = this.language.word("speed");
    this.canvas.setAttribute("aria-label", this.language.word("the tree"));
    this.keys.textContent = this.language.help("keys");
    this.formed.textContent = `${this.language.word(this.forms[this.form])} ⇄ ${this.language.word(this.forms[1 - this.form])}`;
    this.code.replaceChildren(...this.listings[this.form][this.language.current].map((line) => Kempelen.element("li", { textContent: line || " " })));
    this.names.clear();
    this.listed = new Map();
    this.rows = new WeakMap();
    this.show();
  }

  name(node) {
    if (node < 0) return "";
    if (!this.names.has(node)) {
      const nodes = this.recording.nodes;
      const places = [];
      for (let up = node; nodes[up].parent >= 0; up = nodes[up].parent) places.unshift(nodes[up].place);
      const label = nodes[node].name || places.join(".") || "ε";
      this.names.set(node, nodes[node].move ? `${label} (${this.language.word(nodes[node].move)})` : label);
    }
    return this.names.get(node);
  }

  part(part) {
    if (part === null || typeof part !== "object") return this.language.word(part);
    if (part.label === undefined) return this.name(part.node);
    return part.move ? `${part.label} (${this.language.word(part.move)})` : part.label;
  }

  go(step) {
    this.replay.go(Math.max(0, Math.min(this.replay.length, step)));
    this.show();
  }

  jump(which) {
    if (!this.replay[which]()) this.replay.go(this.replay.length);
    this.show();
  }

  play() {
    if (this.timer !== null) return this.pause();
    if (this.replay.at === this.replay.length) this.replay.go(0);
    this.playing.setAttribute("aria-pressed", "true");
    const next = () => {
      this.go(this.replay.at + 1);
      if (this.replay.at === this.replay.length) return this.pause();
      this.timer = setTimeout(next, 1600 * 0.6 ** Number(this.speed.value));
    };
    this.timer = setTimeout(next, 0);
  }

  pause() {
    clearTimeout(this.timer);
    this.timer = null;
    this.playing.setAttribute("aria-pressed", "false");
  }

  follow() {
    this.view.follow = !this.view.follow;
    this.show();
  }

  boards() {
    this.view.showBoards(!this.view.boards);
    this.show();
  }

  choose(node) {
    this.chosen = node;
    this.view.fold(node);
  }

  key(event) {
    const tag = event.target.tagName;
    if (event.ctrlKey || event.metaKey || event.altKey || tag === "TEXTAREA" || tag === "SELECT" || tag === "INPUT") return;
    if (tag === "BUTTON" && (event.key === " " || event.key === "Enter")) return;
    const keys = {
      ArrowRight: () => this.go(this.replay.at + 1),
      ArrowLeft: () => this.go(this.replay.at - 1),
      Home: () => this.go(0),
      End: () => this.go(this.replay.length),
      c: () => this.jump("nextCut"),
      v: () => this.jump("nextTurn"),
      " ": () => this.play(),
      "+": () => this.view.zoom(1.4),
      "-": () => this.view.zoom(1 / 1.4),
      0: () => this.view.fit(),
      f: () => this.follow(),
      b: () => this.boards(),
      Enter: () => this.view.fold(this.view.shown(this.replay.step ? this.replay.step.node : 0)),
    };
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  show() {
    if (!this.view) return;
    const step = this.replay.step;
    this.slider.value = this.replay.at;
    this.count.textContent = `${this.replay.at} / ${this.replay.length}`;
    const said = step ? (step.said || []).map(([key, ...parts]) => this.language.sentence(key, parts.map((part) => this.part(part)))) : [];
    if (this.replay.at === this.replay.length && this.recording.stopped) said.push(this.language.sentence("stopped", []));
    this.said.textContent = said.join(" ");
    const lit = new Set((step && (this.form ? step.others : step.lines)) || []);
    [...this.code.children].forEach((line, number) => {
      line.classList.toggle("lit", lit.has(number));
      if (lit.has(number)) line.setAttribute("aria-current", "step");
      else line.removeAttribute("aria-current");
    });
    if (step) this.chosen = step.node;
    this.following.setAttribute("aria-pressed", String(this.view.follow));
    this.boarding.setAttribute("aria-pressed", String(this.view.boards));
    this.boarding.hidden = !this.view.hasBoards;
    this.showLists();
    this.showCounts();
    this.view.show(step ? step.node : 0);
  }

  showLists() {
    const element = Kempelen.element;
    const shown = [];
    for (const [name, headings] of Object.entries(Kempelen.LISTS)) {
      const rows = this.replay.list(name);
      if (!rows.length) continue;
      const some = name === "open" || name === "children" ? rows.slice(0, Kempelen.MOST_ROWS) : rows.slice(-Kempelen.MOST_ROWS);
      const columns = headings.slice(0, rows[0].length - 1);
      let [heading, table] = this.listed.get(`${name} ${columns}`) || [];
      if (!table) {
        heading = element("h2", {});
        table = element("table", { className: name }, element("tr", {}, ...columns.map((word) => element("th", { textContent: this.language.word(word) }))));
        this.listed.set(`${name} ${columns}`, [heading, table]);
      }
      heading.textContent = `${this.language.word(name)} (${rows.length})`;
      this.fill(table, some);
      shown.push(heading, table);
    }
    const before = this.tables.children;
    if (shown.length !== before.length || shown.some((each, index) => each !== before[index])) this.tables.replaceChildren(...shown);
  }

  /* Set the rows of a table; unchanged rows are kept. */
  fill(table, rows) {
    const element = Kempelen.element;
    const wanted = rows.map((row) => {
      let made = this.rows.get(row);
      if (!made) this.rows.set(row, (made = element("tr", {}, ...row.slice(1).map((cell) => element("td", { textContent: this.part(cell) })))));
      return made;
    });
    const kept = new Set(wanted);
    let at = table.firstChild.nextSibling;
    while (at) {
      const next = at.nextSibling;
      if (!kept.has(at)) at.remove();
      at = next;
    }
    at = table.firstChild.nextSibling;
    for (const row of wanted) {
      if (row === at) at = at.nextSibling;
      else table.insertBefore(row, at);
    }
  }

  showCounts() {
    const element = Kempelen.element;
    const row = (word, value) => element("tr", {}, element("td", { textContent: word }), element("td", { className: "number", textContent: value }));
    const rows = [];
    for (const [name, word] of Object.entries(Kempelen.COUNTS)) {
      const count = this.replay.field(-1, name);
      if (count !== undefined) rows.push(row(this.language.word(word), count));
    }
    const theory = this.recording.theory;
    if (theory) {
      rows.push(
        row(`${this.language.word("branching")} b`, Number(theory.branching.toPrecision(4))),
        row(`${this.language.word("depth")} d`, theory.depth),
        row(`${this.language.word("all leaves")} b^d`, Number(theory.all_leaves.toPrecision(6))),
        row(`${this.language.word("least leaves")} b^⌈d/2⌉ + b^⌊d/2⌋ − 1`, Number(theory.least_leaves.toPrecision(6))),
      );
    }
    this.counts.replaceChildren(...rows);
  }
};

{
  const data = JSON.parse(document.getElementById("data").textContent);
  if (data.recording) Kempelen.stepPage = new Kempelen.StepPage(document.getElementById("page"), data);
}
