// The visible part of the map: screen = offset + scale · position. Zoom 1 shows everything.

const CLOSEST = 120;
const MARGIN = 26;

class View {
  constructor(x, y) {
    const [left, right] = extent(x);
    const [top, bottom] = extent(y);
    this.bounds = { left, top, width: Math.max(right - left, 1e-3), height: Math.max(bottom - top, 1e-3) };
    this.zoom = 1;
    this.centre = { x: left + (right - left) / 2, y: top + (bottom - top) / 2 };
    this.home = { ...this.centre };
    this.width = this.height = 1;
    this.flight = 0;
  }

  get scale() {
    const { width, height } = this.bounds;
    return this.zoom * Math.min((this.width - 2 * MARGIN) / width, (this.height - 2 * MARGIN) / height);
  }

  screenX(x) {
    return this.width / 2 + (x - this.centre.x) * this.scale;
  }

  screenY(y) {
    return this.height / 2 + (y - this.centre.y) * this.scale;
  }

  placeX(px) {
    return this.centre.x + (px - this.width / 2) / this.scale;
  }

  placeY(py) {
    return this.centre.y + (py - this.height / 2) / this.scale;
  }

  pan(dx, dy) {
    cancelAnimationFrame(this.flight);
    this.centre.x -= dx / this.scale;
    this.centre.y -= dy / this.scale;
    this.stay();
  }

  // Zoom; the position under (px, py) stays there.
  zoomAt(px, py, factor) {
    cancelAnimationFrame(this.flight);
    const [x, y] = [this.placeX(px), this.placeY(py)];
    this.zoom = clamp(this.zoom * factor, 1, CLOSEST);
    this.centre.x = x - (px - this.width / 2) / this.scale;
    this.centre.y = y - (py - this.height / 2) / this.scale;
    this.stay();
  }

  // The middle of the view stays on the map; at zoom 1 it is the middle of the map.
  stay() {
    const slack = 1 - 1 / this.zoom;
    const { width, height } = this.bounds;
    this.centre.x = clamp(this.centre.x, this.home.x - (slack * width) / 2, this.home.x + (slack * width) / 2);
    this.centre.y = clamp(this.centre.y, this.home.y - (slack * height) / 2, this.home.y + (slack * height) / 2);
  }

  // Move to a position in a third of a second, or at once where reduced motion is preferred.
  fly(target, changed) {
    cancelAnimationFrame(this.flight);
    const from = { x: this.centre.x, y: this.centre.y, zoom: this.zoom };
    const start = performance.now();
    const length = calm.matches ? 0 : 350;
    const step = (now) => {
      const part = length === 0 ? 1 : clamp((now - start) / length, 0, 1);
      const eased = 1 - (1 - part) ** 3;
      this.zoom = from.zoom * (target.zoom / from.zoom) ** eased;
      this.centre.x = from.x + (target.x - from.x) * eased;
      this.centre.y = from.y + (target.y - from.y) * eased;
      this.stay();
      changed();
      if (part < 1) this.flight = requestAnimationFrame(step);
    };
    step(start);
  }
}

function extent(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return [low, high];
}
