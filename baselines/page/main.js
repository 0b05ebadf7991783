// What is chosen above decides what is shown below.
const data = JSON.parse(byId("data").textContent);
const chosen = { group: 0, entry: 0, split: "", seed: "all" };
const BATCH = 60;
let listed = [], shown = 0;
const SPLITS = { s0: "s₀", s0_g: "s₀ and g", key_moved: "key moved", ice_moved: "ice moved" };

function fill(select, options, value) {
  select.replaceChildren(...options.map(([key, text]) => new Option(text, key, false, key === value)));
}

const entriesOf = (group) => data.entries.map((entry, i) => [i, entry]).filter(([, entry]) => entry.group === group);

function setGroup(group) {
  chosen.group = group;
  document.querySelectorAll(".group").forEach((part) => { part.hidden = Number(part.dataset.group) !== group; });
  const found = entriesOf(group);
  fill(byId("f-entry"), found.map(([i, entry]) => [String(i), entry.label]));
  const splits = Object.keys(data.groups[group].splits);
  chosen.split = splits.includes(chosen.split) ? chosen.split : splits.includes("test") ? "test" : splits[0] || "";
  fill(byId("f-split"), splits.map((split) => [split, SPLITS[split] || split]), chosen.split);
  setEntry(found[0][0]);
}

function setEntry(entry) {
  chosen.entry = entry;
  const { seeds } = data.entries[entry];
  const names = ["all", ...seeds.map((seed) => String(seed.seed))];
  if (!names.includes(chosen.seed)) chosen.seed = "all";
  fill(byId("f-seed"), names.map((name) => [name, name]), chosen.seed);
  refresh();
}

const seedsChosen = () => data.entries[chosen.entry].seeds.filter((s) => chosen.seed === "all" || String(s.seed) === chosen.seed);

function refresh() {
  const group = data.groups[chosen.group], seeds = seedsChosen();
  document.querySelectorAll("[data-split]").forEach((part) => { part.hidden = part.dataset.split !== chosen.split; });
  showHeats(group, chosen.split, seeds);
  listed = [];
  for (const seed of seeds) {
    const played = seed.splits[chosen.split];
    if (!played) continue;
    played.ends.forEach((end, maze) => { if (end !== "goal" || byId("p-all").checked) listed.push({ seed, maze, end }); });
  }
  const failed = listed.filter((one) => one.end !== "goal").length, name = SPLITS[chosen.split] || chosen.split;
  byId("picked").textContent = `${data.entries[chosen.entry].label} on ${name}: ${failed} failed episodes`;
  byId("thumbs").replaceChildren();
  shown = 0;
  more();
  if (listed.length) open(0);
  else {
    stop();
    player.episode = null;
    byId("board").replaceChildren();
    byId("moves").replaceChildren();
    byId("told").replaceChildren(element("p", { className: "empty", textContent: seeds.length ? "Every episode was solved." : "No replay was kept for this run." }));
  }
}

function more() {
  const group = data.groups[chosen.group], split = group.splits[chosen.split];
  listed.slice(shown, shown + BATCH).forEach((one, i) => {
    const index = shown + i, button = element("button", { type: "button" }, byId("thumbs"));
    const { svg, below, space } = drawMaze(group, split, one.maze, "");
    svg.setAttribute("aria-hidden", "true");
    const states = playsOf(one.seed.splits[chosen.split]).path(one.maze);
    polyline(space, states, one.end === "goal" ? "trail" : "trail bad", below);
    const last = states[states.length - 1] % space.cells;
    node("circle", { class: "agent", cx: space.x(last), cy: space.y(last), r: 2.2 }, below);
    button.append(svg, `${one.maze} · seed ${one.seed.seed}`, document.createElement("br"), one.end);
    button.addEventListener("click", () => { open(index); byId("replay").scrollIntoView(); });
  });
  shown = Math.min(shown + BATCH, listed.length);
  byId("p-more").hidden = shown >= listed.length;
}

function open(index) {
  const one = listed[index];
  if (!one) return;
  while (index >= shown) more();
  player.index = index;
  openEpisode(data.groups[chosen.group], chosen.split, one.seed, one.maze);
  byId("thumbs").querySelectorAll("button").forEach((button, i) => button.setAttribute("aria-pressed", String(i === index)));
}

byId("f-group").addEventListener("change", (event) => setGroup(Number(event.target.value)));
byId("f-entry").addEventListener("change", (event) => setEntry(Number(event.target.value)));
byId("f-split").addEventListener("change", (event) => { chosen.split = event.target.value; refresh(); });
byId("f-seed").addEventListener("change", (event) => { chosen.seed = event.target.value; refresh(); });
byId("p-all").addEventListener("change", refresh);
byId("p-more").addEventListener("click", more);
byId("p-arrows").addEventListener("change", () => go(player.step));
byId("p-first").addEventListener("click", () => { stop(); go(0); });
byId("p-back").addEventListener("click", () => { stop(); go(player.step - 1); });
byId("p-play").addEventListener("click", play);
byId("p-next").addEventListener("click", () => { stop(); go(player.step + 1); });
byId("p-last").addEventListener("click", () => { stop(); go(Infinity); });
byId("p-step").addEventListener("input", (event) => { stop(); go(Number(event.target.value)); });

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("select, input, summary")) return;
  const moves = { ArrowLeft: () => { stop(); go(player.step - 1); }, ArrowRight: () => { stop(); go(player.step + 1); },
    "[": () => open(player.index - 1), "]": () => open(player.index + 1) };
  if (event.key === " " && !event.target.closest("button, a")) { event.preventDefault(); play(); }
  else if (moves[event.key]) { event.preventDefault(); moves[event.key](); }
});

// A legend's names switch the lines of a method on and off in the charts of their section.
document.querySelectorAll(".legend li").forEach((item, i, all) => {
  const group = item.closest(".group"), index = Array.from(group.querySelectorAll(".legend li")).indexOf(item);
  const button = element("button", { type: "button" });
  button.setAttribute("aria-pressed", "true");
  button.append(...item.childNodes);
  item.append(button);
  button.addEventListener("click", () => {
    const on = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(on));
    group.querySelectorAll(`.series-${index % 12}`).forEach((line) => line.classList.toggle("series-off", !on));
  });
});

fill(byId("f-group"), data.groups.map((group, i) => [String(i), group.name]));
setGroup(0);
document.documentElement.dataset.ready = "true";
