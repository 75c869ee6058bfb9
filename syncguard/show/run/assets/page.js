// The page's controls: the timeline's buttons, the table's filter, the what-if, the theme, links into closed files.
"use strict";

const find = (selector) => document.querySelector(selector);
const data = JSON.parse(find("#data").textContent);
let lanes = null;

if (find("#chart")) {
  lanes = timeline(data, find("#chart"), find("#tip"), find("#told"));
  for (const button of document.querySelectorAll("[data-do]")) button.addEventListener("click", () => lanes.acts[button.dataset.do]());
  find("#step")?.addEventListener("change", (event) => lanes.step(+event.target.value));
}

// Numbers begin with the largest, words with A: Sortable asks the table which, before it sorts.
for (const head of document.querySelectorAll("table.sortable thead"))
  head.addEventListener("click", (event) => head.parentNode.classList.toggle("asc", Boolean(event.target.closest("th.asc"))), true);

const table = find("#table");
find("#more")?.addEventListener("click", (event) => {
  table.classList.add("every");
  event.target.remove();
});
find("#filter")?.addEventListener("input", (event) => {
  const words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const row of table.tBodies[0].rows) {
    const text = row.textContent.toLowerCase();
    row.hidden = !words.every((word) => text.includes(word));
    shown += !row.hidden;
  }
  find("#shown").textContent = words.length ? `${shown.toLocaleString("en")} of ${table.tBodies[0].rows.length.toLocaleString("en")} lines` : "";
});

// What was not replayed lies between what was: removing more waits saves no less. Singles are never added up.
const outcome = (chosen) => {
  let exact = null, least = 0, most = Infinity;
  data.whatIf.forEach((waits, n) => {
    const set = new Set(waits), saved = Math.max(data.saved[n], 0);
    const inside = waits.every((wait) => chosen.has(wait)), around = [...chosen].every((wait) => set.has(wait));
    if (inside && around) exact = saved;
    if (inside) least = Math.max(least, saved);
    if (around) most = Math.min(most, saved);
  });
  return exact === null ? [least, Math.max(most, least)] : [exact, exact];
};
const milliseconds = (ms) => ms >= 1 ? `${+ms.toPrecision(3)} ms` : `${+(ms * 1000).toPrecision(3)} µs`;
const boxes = [...document.querySelectorAll("[data-wait]")];
const all = data.whatIf.reduce((most, waits) => waits.length > most.length ? waits : most, []);

const answer = (chosen) => {
  const gain = find("#gain"), parts = { kept: 100, unsure: 0, saved: 0 }, step = data.step;
  let text = "";
  if (!chosen.size) gain.textContent = "Choose some waits";
  else {
    const [least, most] = outcome(chosen), sure = least === most;
    if (most === Infinity) gain.textContent = `Saves at least ${milliseconds(least)} a step`;
    else if (sure) gain.textContent = most > 0 ? `Saves ${milliseconds(least)} a step` : "Saves nothing";
    else gain.textContent = `Saves ${least > 0 ? `${milliseconds(least)} to ${milliseconds(most)}` : `at most ${milliseconds(most)}`} a step`;
    if (step && most !== Infinity) {
      parts.saved = 100 * Math.min(least / step, 1);
      parts.unsure = 100 * Math.min((most - least) / step, 1);
      parts.kept = 100 - parts.saved - parts.unsure;
      text = sure ? `${milliseconds(step)} → ${milliseconds(step - least)}, ${(100 * least / step).toFixed(0)}% shorter.` : "";
    }
    if (!sure) text = "This very set was not replayed; it lies between the sets that were.";
  }
  for (const [id, width] of Object.entries(parts)) find(`#${id}`).style.width = `${width}%`;
  find("#explained").textContent = text;
};
if (find("#gain")) {
  const mark = (chosen) => {
    for (const box of boxes) box.checked = chosen.has(+box.dataset.wait);
    answer(chosen);
  };
  for (const box of boxes) box.addEventListener("change", () => answer(new Set(boxes.filter((b) => b.checked).map((b) => +b.dataset.wait))));
  const sets = { all: () => all, best: () => data.best, none: () => [] };
  for (const button of document.querySelectorAll("[data-set]")) button.addEventListener("click", () => mark(new Set(sets[button.dataset.set]())));
  mark(new Set(data.best));
}

const reveal = () => {
  const target = location.hash && document.getElementById(location.hash.slice(1)), file = target && target.closest("details");
  if (file && !file.open) { file.open = true; target.scrollIntoView(); }
};
addEventListener("hashchange", reveal);
reveal();
addEventListener("beforeprint", () => { for (const file of document.querySelectorAll("details")) file.open = true; });

const theme = find("#theme"), themes = ["auto", "light", "dark"];
theme.hidden = false;
theme.addEventListener("click", () => {
  const next = themes[(themes.indexOf(theme.lastElementChild.textContent) + 1) % 3];
  theme.lastElementChild.textContent = next;
  if (next === "auto") delete document.documentElement.dataset.theme; else document.documentElement.dataset.theme = next;
  lanes?.recolour();
});
