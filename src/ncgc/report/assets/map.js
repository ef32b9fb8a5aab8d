// The map: every node a dot, those with a given label larger and outlined. Dots and rings have a canvas each, so that
// pointing at a node never draws the dots again.

const LEVELS = 32; // shades of confidence

class PointMap {
  constructor(points, report) {
    this.points = points;
    this.report = report;
    this.view = new View(points.x, points.y);
    this.grid = new Grid(points.x, points.y);
    this.mode = "label";
    this.hidden = new Set();
    this.hovered = this.selected = -1;
    this.dots = byId("dots");
    this.rings = byId("rings");
    this.frame = byId("map");
    this.given = [];
    this.others = [];
    for (let i = 0; i < points.count; i++) (points.isGiven(i) ? this.given : this.others).push(i);
    this.drawn = 0;
    this.tooltip = new Tooltip(byId("tooltip"), points, report);
    attachGestures(this.dots, this.view, {
      changed: () => this.changed(),
      hover: (at) => this.hover(at),
      leave: () => this.hover(null),
      tap: (at) => this.select(this.at(at, 20)),
    });
    new ResizeObserver(() => this.resize()).observe(this.frame);
    addEventListener("resize", () => devicePixelRatio === this.ratio || this.resize()); // the page was zoomed
    document.addEventListener("themechange", () => this.changed());
    addEventListener("beforeprint", () => this.draw()); // the next frame would be too late
    this.resize();
  }

  resize() {
    const ratio = devicePixelRatio || 1;
    this.ratio = ratio;
    this.view.width = this.frame.clientWidth;
    this.view.height = this.frame.clientHeight;
    for (const canvas of [this.dots, this.rings]) {
      canvas.width = Math.round(this.view.width * ratio);
      canvas.height = Math.round(this.view.height * ratio);
    }
    this.raster = new Raster(this.dots);
    this.draw();
  }

  setMode(mode) {
    this.mode = mode;
    this.changed();
  }

  changed() {
    cancelAnimationFrame(this.drawn);
    this.drawn = requestAnimationFrame(() => this.draw());
  }

  visible(i) {
    return !this.hidden.has(this.points.label[i]);
  }

  // Radius of a dot in CSS pixels: smaller the more there are, larger at higher zoom.
  get radius() {
    const room = clamp(this.view.width / 760, 0.72, 1);
    const base = room * clamp(30 / this.points.count ** 0.31, 1.3, 6.5);
    return Math.min(base * this.view.zoom ** 0.35, Math.max(base, 7));
  }

  // The colours, and the number of the colour of each node.
  colouring() {
    const { points } = this;
    if (this.mode === "confidence") {
      const least = leastConfidence();
      const colours = Array.from({ length: LEVELS + 1 }, (_, level) => rampColour(level / LEVELS));
      const level = (i) => Math.round((LEVELS * (points.confidence[i] / 255 - least)) / (1 - least));
      return { colours, number: (i) => clamp(level(i), 0, LEVELS) };
    }
    const unlabelled = channels(token("--unlabelled"));
    if (this.mode === "source") {
      const colours = [channels(token("--predicted")), channels(token("--given")), unlabelled];
      return { colours, number: (i) => (points.isGiven(i) ? 1 : points.label[i] === points.none ? 2 : 0) };
    }
    const classes = this.report.classes.length;
    return { colours: [...palette().map(channels), unlabelled], number: (i) => Math.min(points.label[i], classes) };
  }

  draw() {
    const { points, view, ratio, raster } = this;
    const { colours, number } = this.colouring();
    const scale = view.scale * ratio;
    const left = raster.width / 2 - view.centre.x * scale;
    const top = raster.height / 2 - view.centre.y * scale;
    const stamp = (nodes, layers) => {
      const reach = layers[0].mask.half;
      for (const i of nodes) {
        if (!this.visible(i)) continue;
        const px = left + points.x[i] * scale;
        const py = top + points.y[i] * scale;
        if (px < -reach || py < -reach || px > raster.width + reach || py > raster.height + reach) continue;
        for (const { mask, colour } of layers) raster.disc(px, py, mask, colour ?? colours[number(i)]);
      }
    };
    const card = channels(token("--card"));
    const radius = this.radius * ratio;
    const large = Math.max(radius * 1.3, 2.4 * ratio);
    const line = Math.max(1.2 * ratio, large * 0.3);
    raster.clear(card);
    stamp(this.others, [{ mask: discMask(radius, this.mode === "source" ? 0.6 : 0.82), colour: null }]);
    stamp(this.given, [
      { mask: discMask(large + 1.7 * line, 1), colour: card }, // separates the outline from a dark neighbour
      { mask: discMask(large + line, 1), colour: channels(token("--outline")) },
      { mask: discMask(large, 1), colour: null },
    ]);
    raster.show();
    this.drawRings();
  }

  drawRings() {
    const pen = this.rings.getContext("2d");
    pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    pen.clearRect(0, 0, this.view.width, this.view.height);
    const ring = (i, reach, line, colour) => {
      const { x, y } = this.screen(i);
      pen.beginPath();
      pen.arc(x, y, reach, 0, 2 * Math.PI);
      pen.lineWidth = line;
      pen.strokeStyle = colour;
      pen.stroke();
    };
    const radius = this.radius;
    if (this.hovered >= 0) ring(this.hovered, radius + 4, 2, token("--ink"));
    if (this.selected >= 0 && this.visible(this.selected)) {
      ring(this.selected, radius + 9, 6, token("--card"));
      ring(this.selected, radius + 9, 3, token("--ring"));
    }
    const shown = this.hovered >= 0 ? this.hovered : this.selected;
    const box = { width: this.view.width, height: this.view.height };
    if (shown >= 0 && this.visible(shown)) this.tooltip.show(shown, this.screen(shown), box);
    else this.tooltip.hide();
  }

  screen(i) {
    return { x: this.view.screenX(this.points.x[i]), y: this.view.screenY(this.points.y[i]) };
  }

  at({ x, y }, reach) {
    const { view } = this;
    const near = (reach + this.radius) / view.scale;
    return this.grid.nearest(view.placeX(x), view.placeY(y), near, (i) => this.visible(i));
  }

  hover(at) {
    const node = at === null ? -1 : this.at(at, 8);
    if (node === this.hovered) return;
    this.hovered = node;
    this.dots.classList.toggle("pointing", node >= 0);
    this.drawRings();
  }

  select(node) {
    this.selected = node;
    this.frame.dataset.selected = node < 0 ? "" : this.points.id(node);
    this.drawRings();
  }

  // Ring a node and go to it, whatever was hidden.
  reveal(node) {
    this.hidden.delete(this.points.label[node]);
    this.select(node);
    const zoom = Math.max(this.view.zoom, Math.min(6, CLOSEST));
    this.view.fly({ x: this.points.x[node], y: this.points.y[node], zoom }, () => this.changed());
    this.frame.scrollIntoView({ behavior: calm.matches ? "auto" : "smooth", block: "nearest" });
    document.dispatchEvent(new Event("revealed"));
  }
}
