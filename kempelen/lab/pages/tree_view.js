/* A tree on a canvas, of any size: only visible nodes are drawn, and overlapping ones once. */
"use strict";

Kempelen.FILLS = { max: "#dbeafe", min: "#fef3c7", chance: "#dcfce7", or: "#dbeafe", and: "#fef3c7" };
// The principal variation has another colour than the current node and the path to it.
Kempelen.INKS = { current: "#b91c1c", path: "#c2410c", principal: "#15803d" };
// Below this size in pixels, a node is a dot.
Kempelen.DOT = 16;

Kempelen.TreeView = class {
  constructor(canvas, replay, word, chosen) {
    Object.assign(this, { canvas, replay, word, chosen });
    this.nodes = replay.recording.nodes;
    this.children = Kempelen.childrenOf(this.nodes);
    this.principal = new Set(replay.recording.principal);
    this.folded = new Set();
    this.boards = this.nodes.length < 2000;
    this.hasBoards = this.nodes.some((node) => node.board);
    this.follow = true;
    this.scale = 1;
    this.left = this.top = 0;
    this.drawn = 0;
    this.frame = 0;
    this.asked = false;
    this.place();
    this.listen();
    new ResizeObserver(() => this.resize()).observe(canvas);
  }

  get gapX() {
    return this.boards && this.hasBoards ? 96 : 74;
  }

  get gapY() {
    return this.boards && this.hasBoards ? 150 : 96;
  }

  place() {
    const { x, depth, levels, width } = Kempelen.layout(this.nodes, this.children, this.folded);
    Object.assign(this, { x, depth, levels, width });
  }

  resize() {
    const ratio = globalThis.devicePixelRatio || 1;
    const { clientWidth, clientHeight } = this.canvas;
    if (!clientWidth || !clientHeight) return;
    this.canvas.width = Math.round(clientWidth * ratio);
    this.canvas.height = Math.round(clientHeight * ratio);
    if (!this.sized) {
      this.sized = true;
      this.fit();
      if (this.scale < 0.3) {
        this.scale = 0.6;
        this.centre(0);
      }
    }
    this.draw();
  }

  fit() {
    const { clientWidth, clientHeight } = this.canvas;
    this.scale = Math.min(1.2, clientWidth / (this.gapX * (this.width + 0.6)), clientHeight / (this.gapY * this.levels.length));
    this.left = (clientWidth - this.scale * this.gapX * (this.width - 1)) / 2;
    this.top = this.scale * this.gapY * 0.4;
    this.ask();
  }

  centre(node) {
    this.left = this.canvas.clientWidth / 2 - this.scale * this.gapX * this.x[node];
    this.top = Math.min(this.scale * this.gapY * 0.5, this.canvas.clientHeight * 0.7 - this.scale * this.gapY * this.depth[node]);
    this.ask();
  }

  at(node) {
    return [this.left + this.scale * this.gapX * this.x[node], this.top + this.scale * this.gapY * this.depth[node]];
  }

  /* The node, or the folded node that hides it. */
  shown(node) {
    while (Number.isNaN(this.x[node])) node = this.nodes[node].parent;
    return node;
  }

  show(node) {
    if (this.follow && node >= 0) {
      const [x, y] = this.at(this.shown(node));
      const { clientWidth, clientHeight } = this.canvas;
      if (x < 40 || y < 20 || x > clientWidth - 40 || y > clientHeight - 40) this.centre(this.shown(node));
    }
    this.ask();
  }

  zoom(factor, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2) {
    const scale = Math.min(4, Math.max(1e-5, this.scale * factor));
    this.left = x - ((x - this.left) * scale) / this.scale;
    this.top = y - ((y - this.top) * scale) / this.scale;
    this.scale = scale;
    this.ask();
  }

  fold(node) {
    if (this.folded.has(node)) this.folded.delete(node);
    else if (this.children[node].length) this.folded.add(node);
    const [x, y] = this.at(this.shown(node));
    this.place();
    const after = this.at(this.shown(node));
    this.left += x - after[0];
    this.top += y - after[1];
    this.ask();
  }

  unfold() {
    this.folded.clear();
    this.place();
    this.fit();
  }

  showBoards(wanted) {
    this.boards = wanted;
    this.fit();
  }

  /* Draw once in the next frame. */
  ask() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      this.draw();
    });
  }

  visible(node) {
    const place = this.nodes[node];
    return node === 0 || (!place.move && !place.board) || this.replay.field(node, "seen");
  }

  draw() {
    const began = performance.now();
    const ratio = globalThis.devicePixelRatio || 1;
    const context = (this.context ||= this.canvas.getContext("2d", { alpha: false }));
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const { clientWidth, clientHeight } = this.canvas;
    context.fillStyle = "#ffffff";
    context.fillRect(0, 0, clientWidth, clientHeight);
    this.drawn = 0;
    const active = new Set(this.replay.list("stack").map((row) => row[0]));
    const current = this.replay.step ? this.replay.step.node : -1;
    const inView = [];
    this.levels.forEach((level, depth) => {
      const y = this.top + this.scale * this.gapY * depth;
      if (y < -this.scale * this.gapY * 1.5 || y > clientHeight + this.scale * this.gapY * 1.5) return;
      const from = this.first(level, -this.scale * this.gapX);
      let last = -Infinity;
      for (let index = Math.max(0, from - 1); index < level.length; index += 1) {
        const node = level[index];
        const x = this.left + this.scale * this.gapX * this.x[node];
        const beyond = x > clientWidth + this.scale * this.gapX;
        const kept = node === current || active.has(node);
        if ((x - last >= 1 || kept) && this.visible(node)) {
          inView.push([node, x, y]);
          last = x;
        }
        if (beyond) break;
      }
    });
    this.drawEdges(context, inView);
    for (const [node, x, y] of inView) this.drawNode(context, node, x, y, node === current, active.has(node));
    this.frame = performance.now() - began;
  }

  first(level, edge) {
    let low = 0;
    let high = level.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.left + this.scale * this.gapX * this.x[level[middle]] < edge) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  drawEdges(context, inView) {
    const half = this.scale * this.size() * 0.5;
    const texts = this.scale * this.gapX > 40;
    const groups = { usual: [], faint: [], best: [], memory: [] };
    for (const [node, x, y] of inView) {
      const parent = this.nodes[node].parent;
      if (parent < 0) continue;
      const [atX, atY] = this.at(parent);
      const seen = this.replay.field(node, "seen");
      const ended = this.replay.at === this.replay.length;
      const name = !seen ? "faint" : this.replay.field(node, "remembered") ? "memory" : ended && this.principal.has(node) ? "best" : "usual";
      groups[name].push([atX, atY + half, x, y - half, node]);
      this.drawn += 1;
    }
    for (const [name, edges] of Object.entries(groups)) {
      context.beginPath();
      for (const [fromX, fromY, toX, toY] of edges) {
        context.moveTo(fromX, fromY);
        context.lineTo(toX, toY);
      }
      context.strokeStyle = { usual: "#1f2933", faint: "#cbd2d9", best: Kempelen.INKS.principal, memory: "#1d4ed8" }[name];
      context.lineWidth = name === "best" ? 3 : 1;
      context.setLineDash(name === "faint" ? [3, 3] : name === "memory" ? [1, 2] : []);
      context.stroke();
    }
    context.setLineDash([]);
    if (!texts) return;
    context.textAlign = "center";
    context.textBaseline = "middle";
    for (const [fromX, fromY, toX, toY, node] of Object.values(groups).flat()) this.drawMove(context, fromX, fromY, toX, toY, node);
  }

  drawMove(context, fromX, fromY, toX, toY, node) {
    const place = this.nodes[node];
    const parent = this.nodes[place.parent];
    const x = fromX + 0.6 * (toX - fromX);
    const y = fromY + 0.6 * (toY - fromY);
    let text = place.move ? this.word(place.move) : "";
    if (place.chance !== undefined) {
      const dice = /^[1-6]{1,2}$/.test(place.move) ? [...place.move].map((face) => Kempelen.DICE[face]).join("") : text;
      text = `${dice} ${place.chance.toFixed(3).replace(/0+$/, "")}`;
    }
    if (text) this.label(context, text, x, y, 11 * Math.min(1, this.scale * 1.3), "#1f2933");
    if (this.replay.field(place.parent, "cut") && !this.replay.field(node, "seen")) this.label(context, "✂", x, y, 14, "#b91c1c");
    // The arc of an AND node joins the edges to its first and last child.
    const siblings = this.children[place.parent];
    if (parent.kind === "and" && siblings.length > 1 && node === siblings[0]) {
      const [lastX, lastY] = this.at(siblings[siblings.length - 1]);
      const radius = this.scale * 26;
      context.beginPath();
      context.arc(fromX, fromY, radius, Math.atan2(lastY - fromY, lastX - fromX), Math.atan2(toY - fromY, toX - fromX));
      context.strokeStyle = "#c2410c";
      context.lineWidth = 2;
      context.stroke();
      this.drawn += 1;
    }
    const shared = this.replay.field(node, "shared");
    if (shared !== undefined) {
      const [sharedX, sharedY] = this.at(this.shown(shared));
      context.beginPath();
      context.moveTo(toX, toY);
      context.quadraticCurveTo((toX + sharedX) / 2, Math.max(toY, sharedY) + this.scale * 60, sharedX, sharedY);
      context.strokeStyle = "#1d4ed8";
      context.setLineDash([4, 3]);
      context.stroke();
      context.setLineDash([]);
    }
  }

  label(context, text, x, y, size, ink) {
    context.font = `${size}px sans-serif`;
    const width = context.measureText(text).width;
    context.fillStyle = "#ffffff";
    context.fillRect(x - width / 2 - 1, y - size / 2, width + 2, size);
    context.fillStyle = ink;
    context.fillText(text, x, y);
    this.drawn += 1;
  }

  size() {
    return this.boards && this.hasBoards ? 72 : 30;
  }

  drawNode(context, node, x, y, isCurrent, isActive) {
    const place = this.nodes[node];
    const seen = this.replay.field(node, "seen");
    const high = this.scale * this.size();
    const wide = Math.max(this.scale * 48, high);
    const onWay = isCurrent || isActive || this.replay.field(node, "path");
    const isPrincipal = this.replay.at === this.replay.length && this.principal.has(node);
    const { current, path, principal } = Kempelen.INKS;
    const ink = isCurrent ? current : isPrincipal ? principal : onWay ? path : "";
    const fill = seen ? Kempelen.FILLS[place.kind] : "#ffffff";
    this.drawn += 1;
    if (high < Kempelen.DOT * 0.6) {
      const side = Math.max(1, ink ? 5 : high);
      context.fillStyle = ink || (seen ? "#475569" : "#cbd2d9");
      context.fillRect(x - side / 2, y - side / 2, side, side);
      return;
    }
    context.beginPath();
    if (place.kind === "min" || place.kind === "and") context.roundRect(x - wide / 2, y - high / 2, wide, high, high * 0.45);
    else if (place.kind === "chance") context.roundRect(x - wide / 2, y - high / 2, wide, high, high * 0.2);
    else context.rect(x - wide / 2, y - high / 2, wide, high);
    context.fillStyle = fill;
    context.fill();
    context.strokeStyle = ink || (seen ? "#1f2933" : "#cbd2d9");
    context.lineWidth = isCurrent ? 3.5 : ink ? 2.5 : 1;
    context.setLineDash(seen ? [] : [3, 3]);
    context.stroke();
    context.setLineDash([]);
    if (high < Kempelen.DOT) return;
    const board = this.boards && place.board;
    if (board) Kempelen.drawBoard(context, board, x - high * 0.44, y - high * 0.44, high * 0.88);
    const lines = this.texts(node);
    context.textAlign = "center";
    context.textBaseline = "middle";
    const letter = this.scale * 13;
    context.fillStyle = seen ? "#1f2933" : "#94a3b8";
    if (board) lines.forEach((line, number) => this.label(context, line, x, y + high / 2 + letter * (number + 0.6), letter, "#1f2933"));
    else if (lines.length) {
      context.font = `bold ${letter}px sans-serif`;
      context.fillText(lines[0], x, y);
      lines.slice(1).forEach((line, number) => this.label(context, line, x, y + high / 2 + letter * 0.85 * (number + 0.7), letter * 0.8, "#1f2933"));
    }
    if (this.folded.has(node)) this.label(context, `▸ ${this.children[node].length}`, x, y - high / 2, letter, "#1d4ed8");
    const order = this.replay.field(node, "order");
    if (order !== undefined && this.scale > 0.5) this.label(context, String(order), x - wide / 2, y - high / 2, letter * 0.7, "#1d4ed8");
    const note = [place.name, place.static === undefined ? "" : `h=${place.static}`].filter(Boolean).join(" ");
    if (note) this.label(context, note, x + wide / 2, y - high / 2, letter * 0.8, "#5f6b78");
  }

  /* The texts of a node: its value, then window, bounds, visits, question, cut. */
  texts(node) {
    const place = this.nodes[node];
    const field = (name) => this.replay.field(node, name);
    const value = field("value") ?? place.known;
    const first = value === undefined ? "" : this.word(value) + (field("final") === undefined && field("leaf") === undefined && field("value") !== undefined ? "…" : "");
    const lines = [first];
    if (field("lower") !== undefined) lines[0] = `${this.word(field("lower"))} … ${this.word(field("upper"))}`;
    if (field("visits") !== undefined) lines.splice(0, 1, `N ${field("visits")}`, `W ${field("total") ?? ""}`);
    if (field("bound") !== undefined) lines.push(`UCB ${field("bound")}`);
    if (field("reward") !== undefined) lines.push(`→ ${field("reward")}`);
    if (field("status") !== undefined) lines.push(this.word(field("status")));
    if (field("question") !== undefined) lines.push(`${field("question")}?`);
    if (field("alpha") !== undefined && !field("leaf")) lines.push(`α ${this.word(field("alpha"))}`, `β ${this.word(field("beta"))}`);
    if (field("cut") !== undefined) lines.push(`✂ ${field("cut")}`);
    return lines;
  }

  nodeAt(x, y) {
    const depth = Math.round((y - this.top) / (this.scale * this.gapY));
    const level = this.levels[depth] || [];
    const index = this.first(level, x - (this.scale * this.gapX) / 2);
    const node = level[index];
    if (node === undefined || !this.visible(node)) return -1;
    const [atX] = this.at(node);
    return Math.abs(atX - x) <= (this.scale * this.gapX) / 2 ? node : -1;
  }

  listen() {
    let held = null;
    let moved = false;
    this.canvas.addEventListener("pointerdown", (event) => {
      held = [event.clientX, event.clientY];
      moved = false;
      this.canvas.setPointerCapture(event.pointerId);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (!held) return;
      const [x, y] = [event.clientX - held[0], event.clientY - held[1]];
      if (Math.abs(x) + Math.abs(y) > 3 || moved) {
        moved = true;
        held = [event.clientX, event.clientY];
        this.left += x;
        this.top += y;
        this.ask();
      }
    });
    this.canvas.addEventListener("pointerup", (event) => {
      if (held && !moved) {
        const box = this.canvas.getBoundingClientRect();
        const node = this.nodeAt(event.clientX - box.left, event.clientY - box.top);
        if (node >= 0) this.chosen(node);
      }
      held = null;
    });
    this.canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const box = this.canvas.getBoundingClientRect();
      this.zoom(Math.exp(-event.deltaY / 400), event.clientX - box.left, event.clientY - box.top);
    }, { passive: false });
  }
};
