// Heat maps by cell: hits and totals are summed over the chosen seeds.
function heat(group, title, hits, totals) {
  const space = geometry(group), figure = element("figure", {});
  element("figcaption", { textContent: title }, figure);
  const svg = node("svg", { viewBox: `0 0 ${space.width} ${space.height}`, role: "img", "aria-label": title }, figure);
  for (let cell = 0; cell < space.cells; cell++) {
    const x = space.x(cell), y = space.y(cell), share = totals[cell] ? hits[cell] / totals[cell] : null;
    const box = node("rect", { x: x - 4.8, y: y - 4.8, width: 9.6, height: 9.6, rx: 0.8 }, svg);
    if (share === null) { box.style.fill = "none"; box.style.stroke = "var(--rule)"; box.style.strokeWidth = ".3"; continue; }
    box.style.fill = `color-mix(in oklab, var(--heat) ${(6 + 94 * share).toFixed(1)}%, var(--ground))`;
    node("title", {}, box).textContent = `${(100 * share).toFixed(1)} % of ${totals[cell]}`;
    const text = node("text", { class: "value", x, y }, svg);
    text.textContent = Math.round(100 * share);
    text.style.fill = share > 0.5 ? "var(--heat-ink)" : "var(--ink)";
  }
  const scale = element("div", { className: "scale", ariaHidden: "true" }, figure);
  element("span", { textContent: "0 %" }, scale);
  element("i", {}, scale);
  element("span", { textContent: "100 %" }, scale);
  return figure;
}

function showHeats(group, splitName, seeds) {
  const place = document.getElementById("heats"), split = group.splits[splitName];
  place.replaceChildren();
  const played = seeds.map((seed) => seed.splits[splitName]).filter(Boolean);
  if (!split || !played.length) {
    element("p", { className: "empty", textContent: "No replay was kept for this run." }, place);
    return;
  }
  const sum = (field) => played[0][field].map((_, cell) => played.reduce((all, one) => all + one[field][cell], 0));
  const times = (values) => values.map((value) => value * played.length);
  place.append(
    heat(group, "Success, by start cell", sum("reached"), times(split.starts)),
    heat(group, "Optimal actions, by cell", sum("right"), times(split.states)),
  );
}
