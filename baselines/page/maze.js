// Mazes from wall bytes: bit 0 up, 1 right, 2 down, 3 left; row 0 is at the bottom.
const SIZE = 10, NAMES = ["up", "right", "down", "left"], SIGNS = ["↑", "→", "↓", "←"];
const DX = [0, 1, 0, -1], DY = [-1, 0, 1, 0];

const bytes = (text) => Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
const once = (make) => { const kept = new Map(); return (key) => { if (!kept.has(key)) kept.set(key, make(key)); return kept.get(key); }; };

function node(name, attributes, parent) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  if (parent) parent.appendChild(made);
  return made;
}

function element(name, properties, parent) {
  const made = Object.assign(document.createElement(name), properties);
  if (parent) parent.appendChild(made);
  return made;
}

// One split of a group with its arrays decoded.
const mazesOf = once((split) => ({
  ...split, walls: bytes(split.walls), optimal: bytes(split.optimal), distance: bytes(split.distance),
  ice: split.ice ? bytes(split.ice) : null,
}));

// What one seed does on one split, decoded.
const playsOf = once((played) => {
  const raw = bytes(played.paths), total = played.lengths.reduce((a, b) => a + b, 0);
  const states = raw.length === total ? raw : new Uint16Array(raw.buffer);
  const begin = []; let at = 0;
  for (const length of played.lengths) { begin.push(at); at += length; }
  const actions = bytes(played.actions);
  return {
    path: (maze) => states.subarray(begin[maze], begin[maze] + played.lengths[maze]),
    action: (index) => (actions[index >> 2] >> (2 * (index & 3))) & 3,
  };
});

function geometry(group) {
  const [rows, columns] = group.shape;
  return {
    rows, columns, cells: rows * columns, width: columns * SIZE, height: rows * SIZE,
    x: (cell) => (cell % columns) * SIZE + SIZE / 2,
    y: (cell) => (rows - 1 - Math.floor(cell / columns)) * SIZE + SIZE / 2,
  };
}

function wallPath(space, walls, first) {
  let path = "";
  const half = SIZE / 2;
  for (let cell = 0; cell < space.cells; cell++) {
    const x = space.x(cell), y = space.y(cell), wall = walls[first + cell];
    if (wall & 1) path += `M${x - half} ${y - half}h${SIZE}`;
    if (wall & 2) path += `M${x + half} ${y - half}v${SIZE}`;
    if (wall & 4) path += `M${x - half} ${y + half}h${SIZE}`;
    if (wall & 8) path += `M${x - half} ${y - half}v${SIZE}`;
  }
  return path;
}

// The maze without the agent. Walls come last, so callers draw under them through `below`.
function drawMaze(group, split, maze, label) {
  const space = geometry(group), mazes = mazesOf(split), first = maze * space.cells;
  const svg = node("svg", { viewBox: `-1 -1 ${space.width + 2} ${space.height + 2}`, role: "img", "aria-label": label });
  node("rect", { class: "floor", x: 0, y: 0, width: space.width, height: space.height }, svg);
  const square = (cell, kind, inset) => node("rect", {
    class: kind, x: space.x(cell) - SIZE / 2 + inset, y: space.y(cell) - SIZE / 2 + inset,
    width: SIZE - 2 * inset, height: SIZE - 2 * inset, rx: inset ? 1 : 0,
  }, svg);
  for (let cell = 0; mazes.ice && cell < space.cells; cell++) if (mazes.ice[first + cell]) square(cell, "ice", 0);
  square(mazes.start[maze], "start", 1.6);
  square(mazes.goal[maze], "goal", 1.6);
  const below = node("g", {}, svg);
  node("path", { class: "walls", d: wallPath(space, mazes.walls, first) }, svg);
  const above = node("g", {}, svg);
  return { svg, below, above, space, mazes };
}

// An arrow from a cell towards an action, between two distances from its middle.
function arrow(space, cell, action, from, to, kind, parent) {
  const x = space.x(cell), y = space.y(cell), dx = DX[action], dy = DY[action];
  const along = (distance, aside) => `${x + dx * distance + dy * aside} ${y + dy * distance + dx * aside}`;
  const wing = Math.min(1.7, (to - from) * 0.5);
  return node("path", {
    class: kind, d: `M${along(from, 0)}L${along(to, 0)}M${along(to - wing, wing)}L${along(to, 0)}L${along(to - wing, -wing)}`,
  }, parent);
}

function polyline(space, states, kind, parent) {
  const points = Array.from(states, (state) => `${space.x(state % space.cells)},${space.y(state % space.cells)}`);
  return node("polyline", { class: kind, points: points.join(" ") }, parent);
}
