/* Two step pages side by side, which move together: by steps, or by evaluated leaves. */
"use strict";

Kempelen.PairPage = class {
  constructor(root, pair) {
    const element = Kempelen.element;
    const halves = pair.map(() => element("section", { className: "half" }));
    const bar = element("div", { className: "controls pair", role: "toolbar" });
    root.className = "pair";
    root.replaceChildren(bar, element("div", { className: "halves" }, ...halves));
    this.pages = pair.map((data, index) => new Kempelen.StepPage(halves[index], { ...data, paired: true }));
    this.language = this.pages[0].language;
    this.marks = this.pages.map((page) => this.leaves(page.recording));
    this.mode = element("select", {}, new Option("", "step"), new Option("", "leaf"));
    this.mode.addEventListener("change", () => this.go(0));
    this.caption = element("span", {});
    this.label = element("label", {}, this.caption, this.mode);
    this.button("start", "|◀", () => this.go(0), bar);
    this.button("back", "◀", () => this.go(this.at - 1), bar);
    this.button("forward", "▶", () => this.go(this.at + 1), bar);
    this.button("end", "▶|", () => this.go(Infinity), bar);
    this.count = element("output", {});
    bar.append(this.count, this.label);
    this.language.listeners.push(() => this.speak());
    const second = this.pages[1];
    second.pick.hidden = true;
    for (const page of this.pages) for (const part of [page.headings["your own tree"], page.ownPlace, page.headings.keys, page.keys]) part.hidden = true;
    this.at = 0;
    this.speak();
    this.go(0);
    document.addEventListener("keydown", (event) => this.key(event));
  }

  button(word, sign, act, place) {
    const made = Kempelen.element("button", { type: "button", textContent: sign });
    made.dataset.does = word;
    made.addEventListener("click", act);
    this.language.listeners.push(() => made.setAttribute("aria-label", this.language.word(word)));
    place.append(made);
  }

  speak() {
    const second = this.pages[1].language;
    if (second.current !== this.language.current) second.set(this.language.current);
    this.caption.textContent = `${this.language.word("move together by")} `;
    for (const option of this.mode.options) option.textContent = this.language.word(option.value);
  }

  /* The numbers of steps after which one more leaf has been evaluated, from no leaf on; then the end. */
  leaves(recording) {
    const found = [0];
    let count = 0;
    recording.steps.forEach((step, index) => {
      for (const [node, name, value] of step.changes || []) {
        if (node === -1 && name === "leaves" && value > count) {
          count = value;
          found.push(index + 1);
        }
      }
    });
    if (found.at(-1) !== recording.steps.length) found.push(recording.steps.length);
    return found;
  }

  /* The last moment: the longer of both in steps, or in leaves. */
  get length() {
    const lengths = this.pages.map((page, index) => (this.mode.value === "leaf" ? this.marks[index].length - 1 : page.replay.length));
    return Math.max(...lengths);
  }

  go(at) {
    this.at = Math.max(0, Math.min(this.length, at));
    this.pages.forEach((page, index) => {
      const marks = this.marks[index];
      page.go(this.mode.value === "leaf" ? marks[Math.min(this.at, marks.length - 1)] : this.at);
    });
    this.count.textContent = `${this.at} / ${this.length}`;
  }

  key(event) {
    const tag = event.target.tagName;
    if (event.ctrlKey || event.metaKey || event.altKey || ["TEXTAREA", "SELECT", "INPUT"].includes(tag)) return;
    const act = { ArrowRight: () => this.go(this.at + 1), ArrowLeft: () => this.go(this.at - 1), Home: () => this.go(0), End: () => this.go(Infinity) }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }
};

Kempelen.pairPage = new Kempelen.PairPage(document.getElementById("page"), JSON.parse(document.getElementById("data").textContent).pair);
