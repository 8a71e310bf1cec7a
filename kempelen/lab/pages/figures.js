"use strict";
// The figures of the lecture notes: contents, then each figure with numbers and pictures.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const page = document.getElementById("page");
  const label = data.labels;

  function add(parent, tag, text, className) {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (className) element.className = className;
    parent.append(element);
    return element;
  }

  function table(parent, headings, rows) {
    const made = add(add(parent, "div", undefined, "wide"), "table");
    const head = add(add(made, "thead"), "tr");
    for (const heading of headings) add(head, "th", heading).scope = "col";
    const body = add(made, "tbody");
    for (const [cells, className] of rows) {
      const row = add(body, "tr", undefined, className);
      for (const cell of cells) add(row, "td", cell);
    }
  }

  function numbers(parent, figure) {
    const rows = figure.rows.map((row) => {
      const said = row.said === null ? label.untold : row.said;
      const kind = row.said === null ? "untold" : row.agrees ? "agrees" : "differs";
      const mark = row.said === null ? "" : row.agrees ? "✓" : row.why || "✗";
      return [[row.what, said, row.found, mark], kind];
    });
    table(parent, [label.what, label.said, label.found, label.agree], rows);
  }

  add(page, "h1", label.title);
  const contents = add(page, "nav");
  contents.setAttribute("aria-label", label.contents);
  const list = add(contents, "ol");
  let note = null;
  for (const figure of data.figures) {
    if (figure.note !== note) {
      note = figure.note;
      add(page, "h2", note + " · " + data.notes[note]);
    }
    const link = add(add(list, "li"), "a", figure.note + " · " + figure.title);
    link.href = "#" + figure.id;
    const section = add(page, "section");
    section.id = figure.id;
    add(section, "h3", figure.title);
    if (figure.text) add(section, "p", figure.text);
    for (const picture of figure.pictures) {
      const image = add(add(section, "div", undefined, "wide"), "img");
      image.alt = figure.title + ": " + picture.title;
      image.src = picture.source;
    }
    if (figure.rows.length) numbers(section, figure);
  }
  add(page, "h2", label.left_out);
  table(page, [label.note, label.figure, label.why], data.left_out.map((each) => [each, ""]));
})();
