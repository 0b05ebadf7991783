// One episode, step by step: what was done beside what is optimal.
const player = { episode: null, step: 0, timer: null };
const byId = (id) => document.getElementById(id);
const ENDS = {
  goal: "reached the goal", bump: "runs into a wall for ever", "two-cycle": "goes to and fro for ever",
  "longer loop": "goes round and round for ever", fall: "falls through the ice", time: "runs out of time",
};

function openEpisode(group, splitName, seed, maze) {
  stop();
  const split = group.splits[splitName], played = seed.splits[splitName], plays = playsOf(played);
  const { cells } = geometry(group), mazes = mazesOf(split), size = cells * group.modes;
  const at = (state) => maze * size + state;
  const states = plays.path(maze);
  player.episode = {
    group, splitName, split, seed, maze, states, cells, size, end: played.ends[maze],
    action: (state) => plays.action(at(state)), best: (state) => mazes.optimal[at(state)],
    distance: (state) => mazes.distance[at(state)],
  };
  const wrong = Array.from(states).findIndex((state, i) => i < states.length - 1 && !isRight(state));
  player.first = wrong;
  byId("p-step").max = states.length - 1;
  drawMoves();
  go(0);
}

const isRight = (state) => Boolean((player.episode.best(state) >> player.episode.action(state)) & 1);

function go(step) {
  const { episode } = player;
  if (!episode) return;
  player.step = Math.min(Math.max(step, 0), episode.states.length - 1);
  byId("p-step").value = player.step;
  drawBoard();
  tell();
  byId("moves").querySelectorAll("button").forEach((button, i) => {
    if (i === player.step) button.setAttribute("aria-current", "step"); else button.removeAttribute("aria-current");
  });
}

function drawBoard() {
  const { episode, step } = player, state = episode.states[step], cell = state % episode.cells;
  const name = `Maze ${episode.maze} of ${episode.splitName}, step ${step}`;
  const { svg, below, above, space, mazes } = drawMaze(episode.group, episode.split, episode.maze, name);
  const mode = Math.floor(state / episode.cells);
  if (mazes.key && mode === 0 && mazes.key[episode.maze] >= 0) letter(space, mazes.key[episode.maze], "key", below);
  if (mazes.door && mode < 2 && mazes.door[episode.maze] >= 0) letter(space, mazes.door[episode.maze], "door", below);
  if (byId("p-arrows").checked) {
    for (let other = 0; other < episode.cells; other++) {
      const there = mode * episode.cells + other;
      if (other === cell || !episode.best(there)) continue;
      arrow(space, other, episode.action(there), -2, 2, `hint ${isRight(there) ? "good" : "bad"}`, below);
    }
  }
  polyline(space, episode.states.subarray(0, step + 1), "trail", below);
  if (step < episode.states.length - 1) {
    const done = episode.action(state), right = isRight(state);
    for (let action = 0; action < 4; action++) {
      if (action !== done && (episode.best(state) >> action) & 1) arrow(space, cell, action, 4, 7.4, "now best", above);
    }
    arrow(space, cell, done, 4, 7.4, `now ${right ? "good" : "bad"}`, above);
  }
  const x = space.x(cell), y = space.y(cell);
  node("path", { class: "agent", d: `M${x} ${y - 3}L${x + 3} ${y}L${x} ${y + 3}L${x - 3} ${y}z` }, above);
  byId("board").replaceChildren(svg);
}

function letter(space, cell, text, parent) {
  node("text", { class: "letter", x: space.x(cell), y: space.y(cell) - 3.1 }, parent).textContent = text;
}

const place = (episode, cell) => {
  const columns = episode.group.shape[1];
  return `row ${Math.floor(cell / columns)}, column ${cell % columns}`;
};

function tell() {
  const { episode, step } = player, told = byId("told"), last = episode.states.length - 1, state = episode.states[step];
  told.replaceChildren();
  element("h3", { textContent: `${episode.splitName}, maze ${episode.maze}, seed ${episode.seed.seed}` }, told);
  const solved = episode.end === "goal";
  element("p", { className: solved ? "good" : "bad", textContent: `The episode ${ENDS[episode.end]}.` }, told);
  const where = `Move ${Math.min(step + 1, last)} of ${last}: at ${place(episode, state % episode.cells)}, ` +
    `${episode.distance(state)} from the goal.`;
  if (step < last) {
    element("p", { textContent: where }, told);
    const right = isRight(state), best = NAMES.filter((_, a) => (episode.best(state) >> a) & 1).join(" or ");
    const line = element("p", { className: right ? "good" : "bad" }, told);
    line.textContent = `Chosen: ${NAMES[episode.action(state)]}. ` + (right ? "That is optimal." : `Optimal: ${best}.`);
    if (step === player.first) element("p", { textContent: "This is the first mistake." }, told);
    return;
  }
  const back = episode.states.indexOf(state);
  const text = solved ? `At the goal after ${last} moves.`
    : ["bump", "two-cycle", "longer loop"].includes(episode.end)
      ? `After move ${last} it is back where it was at move ${back + 1}, and does the same again.`
      : `It ends here after ${last} moves.`;
  element("p", { textContent: text }, told);
}

function drawMoves() {
  const { episode } = player, list = byId("moves");
  list.replaceChildren();
  episode.states.forEach((state, i) => {
    const isLast = i === episode.states.length - 1, item = element("li", {}, list);
    if (!isLast) item.className = isRight(state) ? "good" : "bad";
    const sign = isLast ? (episode.end === "goal" ? "✓" : "↻") : SIGNS[episode.action(state)];
    const button = element("button", { type: "button", textContent: isLast && ["fall", "time"].includes(episode.end) ? "✕" : sign }, item);
    button.setAttribute("aria-label", isLast ? "End" : `Move ${i + 1}: ${NAMES[episode.action(state)]}`);
    button.addEventListener("click", () => { stop(); go(i); });
  });
}

function stop() {
  clearInterval(player.timer);
  player.timer = null;
  byId("p-play").textContent = "Play";
}

function play() {
  if (player.timer) return stop();
  if (!player.episode) return undefined;
  if (player.step === player.episode.states.length - 1) go(0);
  byId("p-play").textContent = "Pause";
  player.timer = setInterval(() => {
    go(player.step + 1);
    if (player.step === player.episode.states.length - 1) stop();
  }, 450);
  return undefined;
}
