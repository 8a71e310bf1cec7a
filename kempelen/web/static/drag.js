// Dragging on SVG boards. A drag is a click on the piece, then a click where it is dropped.

import { buttonAt } from "./gridboard.js";

const MIN_DISTANCE = 4; // pixels; a shorter way is a click

/** Return the point of an event in the units of an SVG board. */
export function pointOn(svg, event) {
  const place = svg.getBoundingClientRect(), { x, y, width, height } = svg.viewBox.baseVal;
  const scale = Math.min(place.width / width, place.height / height);
  const turn = svg.classList.contains("flipped") ? -1 : 1;
  return [
    x + width / 2 + (turn * (event.clientX - place.left - place.width / 2)) / scale,
    y + height / 2 + (turn * (event.clientY - place.top - place.height / 2)) / scale,
  ];
}

/** Let the visitor drag the pieces of the boards in a node: the buttons of the class "source". */
export function dragging(node) {
  let start = null; // the event with which the drag began
  let piece = null;
  let from = []; // the point of `start`

  const buttonLike = (button) => buttonAt(node, button.dataset);
  const press = (button) => button.dispatchEvent(new MouseEvent("click", { bubbles: true }));

  /** Return the uppermost piece on a button. */
  function pieceOn(button) {
    const { x, y, width, height } = button.getBBox();
    return [...node.querySelectorAll(".stone")].filter((each) => {
      const { cx, cy } = each.firstChild, [right, down] = [cx.baseVal.value, cy.baseVal.value];
      return right > x && right < x + width && down > y && down < y + height;
    }).at(-1);
  }

  node.addEventListener("pointerdown", (event) => {
    if (event.button === 0 && event.target.matches(".press.source")) start = event;
  });
  addEventListener("pointermove", (event) => {
    if (!start) return;
    const far = Math.hypot(event.clientX - start.clientX, event.clientY - start.clientY);
    if (!piece && far >= MIN_DISTANCE) {
      const source = start.target;
      if (source.getAttribute("aria-pressed") !== "true") press(source);
      const shown = buttonLike(source); // the board has been drawn again
      piece = shown && pieceOn(shown);
      from = piece && pointOn(piece.ownerSVGElement, start);
      piece?.parentNode.append(piece);
    }
    if (!piece) return;
    const [x, y] = pointOn(piece.ownerSVGElement, event);
    piece.setAttribute("transform", `translate(${x - from[0]} ${y - from[1]})`);
  });
  addEventListener("pointerup", (event) => {
    if (!start || event.button) return;
    const source = start.target, moved = piece;
    start = piece = null;
    if (!moved) return;
    moved.removeAttribute("transform");
    const target = document.elementFromPoint(event.clientX, event.clientY);
    if (!node.contains(target) || buttonLike(source) === target) return;
    press(target);
  });
  addEventListener("pointercancel", () => {
    piece?.removeAttribute("transform");
    start = piece = null;
  });
}
