// Training: one small plot per quantity, all over the same epochs, with the warm-up shaded and one cursor for all.

function trainingCurves(container, { epochs, warmup, best, curves }) {
  const panels = curves.map((curve) => {
    const value = element("span", { class: "now" });
    const box = element("div", { class: "panel-plot" });
    container.append(
      element(
        "figure",
        { class: "panel" },
        element("figcaption", {}, element("b", {}, curve.title), value, element("small", {}, curve.caption || "\u00a0")),
        box,
      ),
    );
    return { curve, value, box, frame: null, cursor: null };
  });
  const last = epochs[epochs.length - 1];
  const x = [Math.min(epochs[0], 1, best ?? 1), last > epochs[0] ? last : last + 1];

  function draw(panel, width) {
    const { curve, box } = panel;
    const known = curve.values.filter((value) => value !== null);
    const y = niceRange(known, !curve.isFraction || Math.min(...known) < 0.2);
    const frame = plot(width, 176, {
      x,
      y,
      xTicks: ticks(x[0], x[1], 4),
      yTicks: ticks(y[0], y[1], 4),
      yText: curve.isFraction ? (value) => percent(value) : short,
      label: `${curve.title}, epoch ${x[0]} to ${last}; last ${formatted(curve, known[known.length - 1])}`,
    });
    if (warmup !== null) shadeWarmup(frame);
    if (best !== null && best >= x[0] && best <= x[1]) {
      const at = frame.x(best);
      frame.svg.append(drawing("line", { x1: at, x2: at, y1: frame.top, y2: frame.bottom, class: "best" }));
    }
    const points = curve.values.map((value, i) => [frame.x(epochs[i]), value === null ? null : frame.y(value)]);
    frame.svg.append(drawing("path", { d: linePath(points), class: "curve" }));
    const drawn = points.filter(([, py]) => py !== null);
    if (drawn.length === 1) frame.svg.append(drawing("circle", { cx: drawn[0][0], cy: drawn[0][1], r: 3, class: "dot" }));
    panel.cursor = drawing("g", { class: "cursor", visibility: "hidden" });
    panel.cursor.append(drawing("line", { y1: frame.top, y2: frame.bottom }), drawing("circle", { r: 3.5, class: "dot" }));
    frame.svg.append(panel.cursor);
    frame.svg.addEventListener("pointermove", (event) => {
      const seen = frame.svg.getBoundingClientRect();
      point(x[0] + ((event.clientX - seen.left - frame.left) / (frame.right - frame.left)) * (x[1] - x[0]));
    });
    frame.svg.addEventListener("pointerleave", () => point(null));
    panel.frame = frame;
    box.replaceChildren(frame.svg);
    point(null);
  }

  function shadeWarmup(frame) {
    const [from, to] = [frame.x(x[0]), frame.x(Math.min(warmup, x[1]))];
    frame.svg.append(
      drawing("rect", { x: from, y: frame.top, width: to - from, height: frame.bottom - frame.top, class: "warmup" }),
    );
    if (to - from > 56) frame.svg.append(drawing("text", { x: from, y: frame.top - 7, class: "remark" }, "warm-up"));
  }

  const formatted = (curve, value) => (curve.isFraction ? percent(value, 1) : short(value));

  // Show every quantity at an epoch; null: at the last.
  function point(epoch) {
    let i = epochs.length - 1;
    if (epoch !== null) i = epochs.reduce((near, e, k) => (Math.abs(e - epoch) < Math.abs(epochs[near] - epoch) ? k : near), 0);
    for (const { curve, value, frame, cursor } of panels) {
      if (!frame) continue;
      const now = curve.values[i];
      value.textContent = now === null ? "–" : formatted(curve, now) + (epoch === null ? "" : ` at ${epochs[i]}`);
      cursor.setAttribute("visibility", epoch === null || now === null ? "hidden" : "visible");
      if (now === null) continue;
      const [line, dot] = cursor.children;
      for (const side of ["x1", "x2"]) line.setAttribute(side, frame.x(epochs[i]));
      dot.setAttribute("cx", frame.x(epochs[i]));
      dot.setAttribute("cy", frame.y(now));
    }
  }

  for (const panel of panels) responsive(panel.box, (width) => draw(panel, width));
}
