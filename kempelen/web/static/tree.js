// The move tree of a game. The root has no move; the first child of a node continues its line.

function link(node, parent) {
  Object.assign(node, { parent, children: [], ply: parent ? parent.ply + 1 : 0 });
  parent?.children.push(node);
  return node;
}

/** Create the tree of a game from the server or the store. Returns the root. */
export function grow({ positions, branches = [] }) {
  const nodes = [];
  [...positions, ...branches].forEach(({ parent, ...entry }, place) => {
    const above = place < positions.length ? nodes[place - 1] : nodes[parent];
    nodes.push(link({ was: place, ...entry }, above ?? null));
  });
  return nodes[0];
}

/** Return a node and the moves that continue its line. */
export function lineFrom(node) {
  const found = [];
  for (let next = node; next; [next] = next.children) found.push(next);
  return found;
}

/** Return the moves from the root to a node, without the root. */
export function path(node) {
  const found = [];
  for (let each = node; each.parent; each = each.parent) found.unshift(each);
  return found;
}

/** Return a game up to a node in the form that the server needs. */
export function gameTo({ game, query, start, chess960, variant, options }, node) {
  const played = path(node).map((each) => each.played);
  if (game === "go") return { game, query: { ...query, moves: played.map((move) => move.split(" ")) } };
  return game === "chess" ? { game, start, chess960, variant, moves: played } : { game, options, moves: played };
}

/** Return all nodes, the main line first, parents before their children. */
export function flat(root) {
  const found = [], waiting = [root];
  while (waiting.length) {
    const line = lineFrom(waiting.pop());
    found.push(...line);
    for (const node of line) waiting.push(...node.children.slice(1).reverse());
  }
  return found;
}

/** Return the nodes as plain data with the number of their parent: the inverse of grow. */
export function pack(root) {
  const nodes = flat(root);
  const numbers = new Map(nodes.map((node, number) => [node, number]));
  const entries = nodes.map(({ parent, children, ply, ...entry }) =>
    ({ ...entry, parent: numbers.get(parent) ?? -1 }));
  const length = lineFrom(root).length;
  return { positions: entries.slice(0, length), branches: entries.slice(length) };
}

/** Add a move after a node. Returns the new node. */
export function add(parent, entry) {
  return link({ ...entry, was: null }, parent);
}

/** Return the first move of the innermost variation that contains a node, or null. */
export function variation(node) {
  for (let each = node; each.parent; each = each.parent) {
    if (each !== each.parent.children[0]) return each;
  }
  return null;
}

/** Make a variation the continuation of the line that it branches from. */
export function promote(first) {
  const siblings = first.parent.children;
  siblings.splice(siblings.indexOf(first), 1);
  siblings.unshift(first);
}

/** Delete a node and the moves after it. Returns the node before it. */
export function remove(node) {
  const siblings = node.parent.children;
  siblings.splice(siblings.indexOf(node), 1);
  return node.parent;
}
