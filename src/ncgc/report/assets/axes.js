// A plot with axes in SVG: its size, its two scales, gridlines and numbers. Charts draw their data into it.

// Round numbers between low and high, about `count` of them.
function ticks(low, high, count) {
  const rough = (high - low) / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.999) ?? 10 * power;
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) found.push(Number((k * step).toPrecision(12)));
  return found;
}

// Bounds of the values, widened to round numbers.
function niceRange(values, fromZero) {
  let [low, high] = extent(values);
  if (fromZero) low = Math.min(low, 0);
  if (high === low) high = low + (Math.abs(low) || 1);
  const marks = ticks(low, high, 4);
  const step = marks.length > 1 ? marks[1] - marks[0] : high - low;
  return [Math.floor(low / step + 1e-9) * step, Math.ceil(high / step - 1e-9) * step];
}

function plot(width, height, { x, y, xTicks, yTicks, xText = short, yText = short, label, left = 44 }) {
  const margin = { left, right: 14, top: 20, bottom: 26 };
  const inner = { width: Math.max(width - margin.left - margin.right, 10), height: height - margin.top - margin.bottom };
  const scaleX = (value) => margin.left + ((value - x[0]) / (x[1] - x[0])) * inner.width;
  const scaleY = (value) => margin.top + (1 - (value - y[0]) / (y[1] - y[0])) * inner.height;
  const svg = drawing("svg", { viewBox: `0 0 ${width} ${height}`, class: "plot", role: "img", "aria-label": label });
  const [bottom, right] = [margin.top + inner.height, margin.left + inner.width];
  for (const value of yTicks) {
    const at = scaleY(value);
    svg.append(
      drawing("line", { x1: margin.left, x2: right, y1: at, y2: at, class: value === y[0] ? "axis" : "grid" }),
      drawing("text", { x: margin.left - 8, y: at, dy: "0.35em", class: "tick end" }, yText(value)),
    );
  }
  for (const value of xTicks) {
    svg.append(drawing("text", { x: scaleX(value), y: bottom + 18, class: "tick middle" }, xText(value)));
  }
  return { svg, x: scaleX, y: scaleY, top: margin.top, bottom, left: margin.left, right };
}

// A path through points, with gaps where a value is null.
function linePath(points) {
  let path = "";
  let pen = "M";
  for (const [px, py] of points) {
    if (py === null) pen = "M";
    else {
      path += `${pen}${px.toFixed(1)},${py.toFixed(1)}`;
      pen = "L";
    }
  }
  return path;
}
