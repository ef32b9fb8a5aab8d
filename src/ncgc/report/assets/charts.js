// The histogram of confidence, the reliability diagram, and the shades of the confusion matrix.

const TENTHS = [0, 0.2, 0.4, 0.6, 0.8, 1];
const plain = (value) => value.toFixed(1);

function confidenceHistogram(container, { counts, threshold }) {
  const total = counts.reduce((sum, count) => sum + count, 0);
  responsive(container, (width) => {
    const y = niceRange([0, ...counts], true);
    const frame = plot(width, 260, {
      x: [0, 1],
      y,
      xTicks: TENTHS,
      yTicks: ticks(y[0], y[1], 4).filter(Number.isInteger),
      xText: plain,
      yText: grouped,
      left: 54,
      label: `Confidence of ${grouped(total)} nodes in ${counts.length} bins`,
    });
    counts.forEach((count, bin) => {
      const [from, to] = [frame.x(bin / counts.length), frame.x((bin + 1) / counts.length)];
      const [at, height] = [frame.y(count), frame.bottom - frame.y(count)];
      const low = threshold !== null && (bin + 0.5) / counts.length < threshold;
      const bar = drawing("rect", { x: from + 1, y: at, width: to - from - 2, height, rx: 2, class: low ? "bar low" : "bar" });
      const range = `${(bin / counts.length).toFixed(2)} to ${((bin + 1) / counts.length).toFixed(2)}`;
      bar.append(drawing("title", {}, `${range}: ${grouped(count)} nodes, ${percent(count / total, 1)}`));
      frame.svg.append(bar);
    });
    if (threshold !== null) {
      const at = frame.x(threshold);
      const side = threshold > 0.6 ? ["end", -6] : ["start", 6];
      frame.svg.append(
        drawing("line", { x1: at, x2: at, y1: frame.top, y2: frame.bottom, class: "best" }),
        drawing("text", { x: at + side[1], y: frame.top + 4, class: `remark ${side[0]}` }, `threshold ${threshold.toFixed(2)}`),
      );
    }
    container.replaceChildren(frame.svg);
  });
}

function reliabilityDiagram(container, bins) {
  const most = Math.max(...bins.map(([, , count]) => count));
  responsive(container, (width) => {
    const frame = plot(width, 260, {
      x: [0, 1],
      y: [0, 1],
      xTicks: TENTHS,
      yTicks: TENTHS,
      xText: plain,
      yText: plain,
      left: 54,
      label: `Accuracy against confidence in ${bins.length} bins`,
    });
    const ends = { x1: frame.x(0), y1: frame.y(0), x2: frame.x(1), y2: frame.y(1) };
    frame.svg.append(drawing("line", { ...ends, class: "ideal" }));
    for (const [confidence, accuracy] of bins) {
      const at = frame.x(confidence);
      frame.svg.append(drawing("line", { x1: at, x2: at, y1: frame.y(confidence), y2: frame.y(accuracy), class: "gap" }));
    }
    const points = bins.map(([confidence, accuracy]) => [frame.x(confidence), frame.y(accuracy)]);
    frame.svg.append(drawing("path", { d: linePath(points), class: "curve" }));
    bins.forEach(([confidence, accuracy, count], i) => {
      const [cx, cy] = points[i];
      const dot = drawing("circle", { cx, cy, r: 3 + 6 * Math.sqrt(count / most), class: "dot" });
      const caption = `confidence ${confidence.toFixed(2)}: ${percent(accuracy, 1)} right of ${grouped(count)} nodes`;
      dot.append(drawing("title", {}, caption));
      frame.svg.append(dot);
    });
    container.replaceChildren(frame.svg);
  });
}

function shadeConfusion(table) {
  for (const cell of table.querySelectorAll("[data-share]")) {
    const share = Number(cell.dataset.share);
    cell.style.setProperty("--share", `${Math.round(share * 88)}%`);
    cell.classList.toggle("strong", share > 0.5);
  }
}
