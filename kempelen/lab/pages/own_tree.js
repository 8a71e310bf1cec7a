/* An editor for the visitor's own tree, exported as YAML for `--tree`. In a frame of a server's page,
   the outer page receives the text, and the server computes the steps. */
"use strict";

Kempelen.OwnTree = class {
  constructor(place, language, recording, served) {
    this.place = place;
    this.language = language;
    this.recording = recording;
    this.tree = recording.given || { children: [{ children: [{ value: 3 }, { value: 5 }] }, { children: [{ value: 2 }, { value: 9 }] }] };
    this.list = Kempelen.element("div", {});
    this.text = Kempelen.element("textarea", { readOnly: true, spellcheck: false });
    this.save = Kempelen.element("button", { type: "button" });
    this.save.dataset.does = "save as YAML";
    this.save.addEventListener("click", () => this.download());
    this.search = Kempelen.element("button", { type: "button", hidden: !served });
    this.search.dataset.does = "search this tree";
    this.search.addEventListener("click", () => globalThis.parent.postMessage({ tree: this.text.value }, "*"));
    this.how = Kempelen.element("p", { className: "keys" });
    place.append(this.list, this.text, this.search, this.save, this.how);
    language.listeners.push(() => this.show());
  }

  show() {
    this.list.replaceChildren(this.item(this.tree, null));
    this.text.value = `${this.yaml(this.tree)}\n`;
    this.text.setAttribute("aria-label", "YAML");
    this.save.textContent = this.language.word("save as YAML");
    this.search.textContent = this.language.word("search this tree");
    const option = this.language.current === "en" ? "" : ` --lang ${this.language.current}`;
    const command = `kempelen lab step --tree tree.yaml --algorithm ${this.recording.algorithm}${option} -o steps.html`;
    this.how.textContent = this.search.hidden ? this.language.sentence("own-tree", [command]) : "";
  }

  button(word, sign, act) {
    const made = Kempelen.element("button", { type: "button", textContent: sign, title: this.language.word(word) });
    made.dataset.does = word;
    made.setAttribute("aria-label", this.language.word(word));
    made.addEventListener("click", () => {
      act();
      this.show();
    });
    return made;
  }

  input(node, field, word, isText) {
    const made = Kempelen.element("input", { value: node[field] ?? "", placeholder: this.language.word(word), title: this.language.word(word) });
    made.style.width = `calc(${made.placeholder.length}ch + 2rem)`; // number fields have arrows
    if (!isText) Object.assign(made, { type: "number", step: "any" });
    made.setAttribute("aria-label", this.language.word(word));
    made.addEventListener("change", () => {
      if (made.value === "") delete node[field];
      else node[field] = isText ? made.value : Number(made.value);
      if (field === "value" && node.value === undefined && !node.children) node.value = 0;
      this.show();
    });
    return made;
  }

  item(node, parent) {
    const made = Kempelen.element("div", {}, this.input(node, "name", "name", true));
    if (node.children) {
      made.append(
        this.input(node, "lower", "lower bound"), this.input(node, "upper", "upper bound"),
        this.input(node, "value", "static value"), this.input(node, "chances", "chances", true),
      );
    } else made.append(this.input(node, "value", "value"));
    made.append(this.button("add a child", "+", () => {
      if (node.children) node.children.push({ value: 0 });
      else {
        node.children = [{ value: node.value ?? 0 }];
        delete node.value;
      }
    }));
    if (parent) made.append(this.button("remove", "×", () => {
      parent.children.splice(parent.children.indexOf(node), 1);
      if (!parent.children.length) {
        delete parent.children;
        delete parent.chances;
        delete parent.lower;
        delete parent.upper;
        parent.value = 0;
      }
    }));
    if (node.children) made.append(Kempelen.element("ul", {}, ...node.children.map((child) => Kempelen.element("li", {}, this.item(child, node)))));
    return made;
  }

  yaml(node) {
    const below = node.children ? `[${node.children.map((child) => this.yaml(child)).join(", ")}]` : String(node.value);
    const bounded = node.lower !== undefined && node.upper !== undefined;
    const valued = node.children && node.value !== undefined;
    if (!node.name && !bounded && !valued && !node.chances) return below;
    const parts = node.name ? [`name: ${JSON.stringify(node.name)}`] : [];
    if (bounded) parts.push(`bounds: [${node.lower}, ${node.upper}]`);
    if (valued) parts.push(`value: ${node.value}`);
    if (node.chances) parts.push(`chances: ${/^[0-9]/.test(node.chances) ? `[${node.chances}]` : node.chances}`);
    parts.push(node.children ? `children: ${below}` : `value: ${below}`);
    return `{${parts.join(", ")}}`;
  }

  download() {
    const address = URL.createObjectURL(new Blob([this.text.value], { type: "text/yaml" }));
    const link = Kempelen.element("a", { href: address, download: "tree.yaml" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  }
};
