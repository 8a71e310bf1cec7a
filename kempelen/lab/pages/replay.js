/* The state of a recorded search after a number of steps; see kempelen/lab/recordings/recording.py. */
"use strict";

Kempelen.Replay = class {
  constructor(recording) {
    this.recording = recording;
    this.fields = new Map();
    this.lists = new Map();
    this.undo = [];
  }

  get at() {
    return this.undo.length;
  }

  get length() {
    return this.recording.steps.length;
  }

  get step() {
    return this.at ? this.recording.steps[this.at - 1] : null;
  }

  field(node, name) {
    const known = this.fields.get(node);
    return known === undefined ? undefined : known[name];
  }

  list(name) {
    return this.lists.get(name) || [];
  }

  forward() {
    if (this.at === this.length) return false;
    const step = this.recording.steps[this.at];
    const before = (step.changes || []).map((change) => this.set(change));
    const rows = Object.entries(step.lists || {}).flatMap(([name, splices]) => splices.map((splice) => [name, this.splice(name, splice)]));
    this.undo.push([before.reverse(), rows.reverse()]);
    return true;
  }

  back() {
    if (!this.at) return false;
    const [before, rows] = this.undo.pop();
    for (const [name, splice] of rows) this.splice(name, splice);
    for (const change of before) this.set(change);
    return true;
  }

  go(step) {
    while (this.at < step && this.forward());
    while (this.at > step && this.back());
  }

  nextCut() {
    return this.next((step) => step.kind === "cut");
  }

  nextTurn() {
    return this.next((step) => step.turns);
  }

  next(wanted) {
    for (let number = this.at; number < this.length; number += 1) {
      if (wanted(this.recording.steps[number])) {
        this.go(number + 1);
        return true;
      }
    }
    return false;
  }

  /* The complete state as text, for comparisons. */
  state() {
    const fields = [...this.fields]
      .filter(([, known]) => Object.keys(known).length)
      .sort((one, other) => one[0] - other[0])
      .map(([node, known]) => [node, Object.entries(known).sort((a, b) => (a[0] < b[0] ? -1 : 1))]);
    const lists = [...this.lists].filter(([, rows]) => rows.length).sort((a, b) => (a[0] < b[0] ? -1 : 1));
    return JSON.stringify([fields, lists]);
  }

  set([node, name, value]) {
    let known = this.fields.get(node);
    if (known === undefined) this.fields.set(node, (known = {}));
    const before = name in known ? known[name] : null;
    if (value === null) delete known[name];
    else known[name] = value;
    return [node, name, before];
  }

  splice(name, [start, removed, rows]) {
    let known = this.lists.get(name);
    if (known === undefined) this.lists.set(name, (known = []));
    const before = known.slice(start, start + removed);
    if (start === known.length) for (const row of rows) known.push(row);
    else known.splice(start, removed, ...rows);
    return [start, rows.length, before];
  }
};
