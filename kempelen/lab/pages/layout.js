/* Tree layout: leaves side by side, parents centred above their children. */
"use strict";

Kempelen.childrenOf = function (nodes) {
  const children = nodes.map(() => []);
  nodes.forEach((node, number) => {
    if (node.parent >= 0) children[node.parent].push(number);
  });
  for (const each of children) each.sort((one, other) => nodes[one].place - nodes[other].place);
  return children;
};

/* Return x of every node (NaN if folded), its depth, and the nodes by depth. */
Kempelen.layout = function (nodes, children, folded) {
  const x = new Float64Array(nodes.length).fill(NaN);
  const depth = new Int32Array(nodes.length);
  const levels = [];
  let right = 0;
  const stack = [[0, false]];
  while (stack.length) {
    const [node, done] = stack.pop();
    const below = folded.has(node) ? [] : children[node];
    if (done) {
      x[node] = (x[below[0]] + x[below[below.length - 1]]) / 2;
      continue;
    }
    if (node) depth[node] = depth[nodes[node].parent] + 1;
    while (levels.length <= depth[node]) levels.push([]);
    levels[depth[node]].push(node);
    if (!below.length) {
      x[node] = right;
      right += 1;
      continue;
    }
    stack.push([node, true]);
    for (let index = below.length - 1; index >= 0; index -= 1) stack.push([below[index], false]);
  }
  return { x, depth, levels, width: Math.max(1, right) };
};
