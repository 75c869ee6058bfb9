// Data in, a chart out: the lanes of a window of the run on one axis of time, drawn by uPlot, which owns the axis, its
// scale, the selection that zooms and the size; what stands on a lane is no series, so its spans are drawn here.
"use strict";

const timeline = (data, box, tip, told) => {
  const ROW = 36, PAD = 5, AXIS = 34, LABEL = 64;
  const rows = data.lanes.filter((lane) => lane.kind !== "idle");
  const idle = data.lanes.filter((lane) => lane.kind === "idle").flatMap((lane) => lane.spans);
  const every = data.lanes.flatMap((lane) => lane.spans);
  const first = every.reduce((least, span) => Math.min(least, span[0]), Infinity);
  const last = every.reduce((most, span) => Math.max(most, span[0] + span[1]), -Infinity);
  const waits = rows.filter((row) => row.kind === "wait").flatMap((row) => row.spans).sort((a, b) => a[0] - b[0]);
  const longest = new Map([...rows.map((row) => row.spans), idle].map((spans) => [spans, spans.reduce((most, s) => Math.max(most, s[1]), 0)]));
  let chosen = -1, colours = {};

  const time = (us) => {
    const size = Math.abs(us);
    if (size >= 1e6) return `${(us / 1e6).toPrecision(3)} s`;
    if (size >= 1e3) return `${(us / 1e3).toPrecision(size >= 1e5 ? 4 : 3)} ms`;
    return `${+us.toPrecision(3)} µs`;
  };
  // Where the first span is that may reach into the view: none that starts earlier is long enough.
  const from = (spans, at) => {
    let low = 0, high = spans.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (spans[middle][0] < at) low = middle + 1; else high = middle;
    }
    return low;
  };
  const within = function* (spans, begin, end) {
    for (let n = from(spans, begin - longest.get(spans)); n < spans.length && spans[n][0] <= end; n++)
      if (spans[n][0] + spans[n][1] >= begin) yield spans[n];
  };
  const paint = () => {
    const style = getComputedStyle(box), probe = document.createElement("i");
    box.append(probe);
    for (const name of ["paper", "ink", "quiet", "edge", "host", "wait", "gpu", "copy", "idle", "calm", "fair", "link"]) {
      probe.style.color = `var(--${name})`;
      colours[name] = getComputedStyle(probe).color;
    }
    probe.remove();
    colours.font = style.fontFamily;
  };
  const colour = (span) => {
    if (span[4] !== "wait") return colours[span[4]] || colours.calm;
    const verdict = (data.waits[span[3]] || [])[2];
    return verdict === "gpu-bound" ? colours.calm : colours.wait;
  };

  const draw = (u) => {
    const ctx = u.ctx, ratio = devicePixelRatio, { left, top, width, height } = u.bbox;
    const { min, max } = u.scales.x, scale = width / (max - min), tall = height / rows.length;
    const px = (at) => left + (at - min) * scale;
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, top, width, height);
    ctx.clip();
    rows.forEach((row, n) => {
      const y = top + n * tall;
      if (row.kind !== "gpu") return;
      ctx.fillStyle = colours.idle;
      for (const span of within(idle, min, max)) ctx.fillRect(px(span[0]), y, Math.max(span[1] * scale, ratio), tall);
    });
    ctx.fillStyle = colours.quiet;
    ctx.globalAlpha = .35;
    for (const [start, length] of data.steps)
      for (const at of [start, start + length]) ctx.fillRect(Math.round(px(at)), top, ratio, height);
    ctx.globalAlpha = 1;
    ctx.textAlign = "left";
    ctx.textBaseline = "middle";
    ctx.font = `${11 * ratio}px ${colours.font}`;
    rows.forEach((row, n) => {
      const y = top + n * tall + PAD * ratio, high = tall - 2 * PAD * ratio;
      let drawn = -Infinity, tone = "";
      for (const span of within(row.spans, min, max)) {
        const x = Math.max(px(span[0]), left - 2), end = Math.min(px(span[0] + span[1]), left + width + 2), fill = colour(span);
        // Many spans may share a pixel: the first of each colour stands for them.
        if (end <= drawn && fill === tone) continue;
        const wide = Math.max(end - x - (end - x > 4 * ratio ? ratio : 0), ratio);
        ctx.fillStyle = fill;
        ctx.fillRect(x, y, wide, high);
        drawn = x + ratio;
        tone = fill;
        if (wide > 44 * ratio) {
          const text = span[4] === "wait" && data.waits[span[3]] ? data.waits[span[3]][1] || data.names[span[2]] : data.names[span[2]];
          const room = Math.floor(wide / (6.2 * ratio)) - 1;
          ctx.fillStyle = span[4] === "idle" ? colours.ink : colours.paper;
          ctx.fillText(text.length > room ? text.slice(0, room - 1) + "…" : text, x + 4 * ratio, y + high / 2);
        }
      }
      if (row.kind === "wait" && waits[chosen]) {
        const span = waits[chosen];
        ctx.strokeStyle = colours.ink;
        ctx.lineWidth = 2 * ratio;
        ctx.strokeRect(px(span[0]) - ratio, y - ratio, Math.max(span[1] * scale, 2 * ratio) + 2 * ratio, high + 2 * ratio);
      }
    });
    ctx.restore();
    ctx.fillStyle = colours.quiet;
    ctx.textAlign = "right";
    ctx.textBaseline = "middle";
    rows.forEach((row, n) => ctx.fillText(row.label.length > 9 ? row.label.slice(0, 8) + "…" : row.label, left - 8 * ratio, top + (n + .5) * tall));
    ctx.textAlign = "left";
    ctx.fillStyle = colours.edge;
    for (let n = 1; n < rows.length; n++) ctx.fillRect(left, Math.round(top + n * tall), width, 1);
  };

  const describe = (span) => {
    const known = data.waits[span[3]], name = data.names[span[2]];
    const what = known ? `${known[0]}  ${known[1]}\n${name}${known[2] ? `, ${known[2]}` : ""}` : name;
    const lead = { wait: "The host waits", idle: "The device is idle" }[span[4]];
    return `${lead ? `${lead} ${time(span[1])}` : time(span[1])}, at ${time(span[0])}\n${what === "idle" ? "" : what}`.trim();
  };
  const under = (u, x, y) => {
    const row = rows[Math.floor(y / (u.over.clientHeight / rows.length))];
    if (!row) return null;
    const near = u.posToVal(x - 2, "x"), far = u.posToVal(x + 2, "x"), at = u.posToVal(x, "x");
    let best = null, away = Infinity;
    for (const span of within(row.spans, near, far)) {
      const off = at < span[0] ? span[0] - at : Math.max(at - span[0] - span[1], 0);
      if (off < away) [best, away] = [span, off];
    }
    if (!best && row.kind === "gpu") for (const span of within(idle, near, far)) best = span;
    return best;
  };
  const point = (u) => {
    const { left, top } = u.cursor, span = left >= 0 ? under(u, left, top) : null;
    tip.hidden = !span;
    if (!span) return;
    tip.textContent = describe(span);
    const over = u.over.getBoundingClientRect(), size = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(over.left + left + 12, innerWidth - size.width - 8))}px`;
    tip.style.top = `${over.top + top + 18 + size.height > innerHeight ? over.top + top - size.height - 10 : over.top + top + 18}px`;
  };

  const whole = last > first ? [first, last] : [first, first + 1];
  const clamp = (min, max) => {
    const wide = Math.min(Math.max(max - min, .5), whole[1] - whole[0]);
    const begin = Math.min(Math.max(min, whole[0]), whole[1] - wide);
    return { min: begin, max: begin + wide };
  };
  const view = (min, max) => chart.setScale("x", clamp(min, max));
  const zoom = (by, at) => {
    const { min, max } = chart.scales.x, middle = at === undefined ? (min + max) / 2 : at;
    view(middle - (middle - min) * by, middle + (max - middle) * by);
  };
  const pan = (by) => {
    const { min, max } = chart.scales.x;
    view(min + (max - min) * by, max + (max - min) * by);
  };
  const choose = (n) => {
    if (!waits.length) return;
    chosen = Math.min(Math.max(n, 0), waits.length - 1);
    const span = waits[chosen], { min, max } = chart.scales.x;
    if (span[0] < min || span[0] + span[1] > max || span[1] < (max - min) / 200) {
      const wide = Math.max(span[1] * 12, Math.min(max - min, span[1] * 60));
      view(span[0] + span[1] / 2 - wide / 2, span[0] + span[1] / 2 + wide / 2);
    }
    chart.redraw(false);
    told.replaceChildren(`Wait ${chosen + 1} of ${waits.length}: ${describe(span).replaceAll("\n", ", ")} `);
    if (data.waits[span[3]]) {
      const link = document.createElement("a");
      link.href = `#w${span[3]}`;
      link.textContent = "Go to its source";
      told.append(link);
    }
  };
  const next = () => choose(chosen < 0 ? from(waits, chart.scales.x.min) : chosen + 1);
  const previous = () => choose(chosen < 0 ? from(waits, chart.scales.x.max) - 1 : chosen - 1);
  const go = () => waits[chosen] && data.waits[waits[chosen][3]] && (location.hash = `w${waits[chosen][3]}`);
  const step = (n) => data.steps[n] ? view(data.steps[n][0] - data.steps[n][1] * .01, data.steps[n][0] + data.steps[n][1] * 1.01) : view(...whole);
  const acts = { in: () => zoom(.5), out: () => zoom(2), fit: () => view(...whole), left: () => pan(-.25), right: () => pan(.25), next, previous };

  paint();
  const axis = () => colours.quiet, font = `11px ${colours.font}`;
  const chart = new uPlot({
    width: box.clientWidth || 600, height: rows.length * ROW + AXIS, legend: { show: false }, padding: [0, 30, 0, 0],
    scales: { x: { time: false, range: (u, min, max) => [min ?? whole[0], max ?? whole[1]] }, y: { range: [0, 1] } },
    axes: [
      { stroke: axis, font, size: AXIS, grid: { stroke: () => colours.edge, width: 1 }, ticks: { stroke: () => colours.edge }, space: 90, values: (u, splits) => splits.map(time) },
      { size: LABEL, ticks: { show: false }, grid: { show: false }, values: (u, splits) => splits.map(() => "") },
    ],
    series: [{}, { show: false }],
    cursor: { x: true, y: false, points: { show: false }, drag: { x: true, y: false, setScale: true } },
    hooks: { draw: [draw], setCursor: [point] },
  }, [whole, [null, null]], box);
  if (data.steps.length) step(0);

  const over = chart.over;
  over.addEventListener("dblclick", (event) => { event.stopImmediatePropagation(); view(...whole); }, true);
  over.addEventListener("mouseleave", () => { tip.hidden = true; });
  over.addEventListener("click", (event) => {
    const span = under(chart, event.offsetX, event.offsetY);
    if (span && span[4] === "wait") choose(waits.indexOf(span));
  });
  over.addEventListener("wheel", (event) => {
    if (event.ctrlKey || event.metaKey) zoom(event.deltaY > 0 ? 1.25 : .8, chart.posToVal(event.offsetX, "x"));
    else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan((event.deltaX || event.deltaY) / 800);
    else return;
    event.preventDefault();
  }, { passive: false });
  // One finger moves, two zoom; a mouse selects what to zoom to.
  const fingers = new Map();
  over.addEventListener("pointerdown", (event) => { if (event.pointerType === "touch") fingers.set(event.pointerId, event.offsetX); });
  over.addEventListener("pointermove", (event) => {
    if (!fingers.has(event.pointerId)) return;
    const was = [...fingers.values()], wide = over.clientWidth;
    fingers.set(event.pointerId, event.offsetX);
    const now = [...fingers.values()];
    if (now.length === 1) pan((was[0] - now[0]) / wide);
    else zoom(Math.abs(was[0] - was[1]) / Math.max(Math.abs(now[0] - now[1]), 1), chart.posToVal((now[0] + now[1]) / 2, "x"));
  });
  for (const name of ["pointerup", "pointercancel", "pointerleave"]) over.addEventListener(name, (event) => fingers.delete(event.pointerId));

  const keys = { ArrowLeft: acts.left, ArrowRight: acts.right, "+": acts.in, "=": acts.in, "-": acts.out, 0: acts.fit, n: next, p: previous, Enter: go };
  box.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  new ResizeObserver(() => box.clientWidth && chart.setSize({ width: box.clientWidth, height: rows.length * ROW + AXIS })).observe(box);
  const recolour = () => { paint(); chart.redraw(); };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
  return { acts, step, recolour, range: () => ({ ...chart.scales.x }) };
};
