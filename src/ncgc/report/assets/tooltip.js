// The tooltip of a node: its label, confidence and most probable classes.

class Tooltip {
  constructor(box, points, report) {
    this.box = box;
    this.points = points;
    this.report = report;
    this.node = -1;
  }

  hide() {
    this.box.hidden = true;
    this.node = -1;
  }

  show(node, at, frame) {
    if (node !== this.node) this.box.replaceChildren(...this.content(node));
    this.node = node;
    this.box.hidden = false;
    const { offsetWidth: width, offsetHeight: height } = this.box;
    const beside = at.x + 18 + width <= frame.width ? at.x + 18 : at.x - 18 - width;
    const left = clamp(beside, 6, Math.max(6, frame.width - width - 6));
    const covers = left < at.x + 12 && left + width > at.x - 12; // on a phone there may be no room beside the dot
    const top = covers ? (at.y > frame.height / 2 ? at.y - height - 24 : at.y + 24) : at.y - height / 2;
    this.box.style.left = `${left}px`;
    this.box.style.top = `${clamp(top, 6, Math.max(6, frame.height - height - 6))}px`;
  }

  content(node) {
    const { points } = this;
    const label = points.label[node];
    const parts = [
      element("p", { class: "tip-id", dir: "auto" }, named(points.id(node))),
      element("p", { class: "tip-label" }, ...this.label(label), ` ${this.how(node)}`),
      element("p", { class: "tip-line" }, "Confidence ", element("b", {}, (points.confidence[node] / 255).toFixed(2))),
    ];
    if (points.isGiven(node) && points.predicted[node] !== label && points.predicted[node] !== points.none) {
      parts.push(element("p", { class: "tip-line" }, "Predicted: ", ...this.label(points.predicted[node])));
    }
    if (points.truth && points.truth[node] !== points.none && !points.isGiven(node)) {
      const right = points.truth[node] === label;
      const words = right ? ["Held out, and right"] : ["Held out; it is ", ...this.label(points.truth[node])];
      parts.push(element("p", { class: "tip-line" }, ...words));
    }
    parts.push(element("div", { class: "tip-bars" }, ...this.bars(node)));
    return parts;
  }

  label(number) {
    if (number === this.points.none) return [element("b", {}, "no label")];
    const dot = element("i", { class: "swatch" });
    dot.style.background = classColour(number);
    return [dot, element("b", { dir: "auto" }, named(this.report.classes[number]))];
  }

  how(node) {
    if (this.points.isGiven(node)) return "given";
    return this.points.label[node] === this.points.none ? "(confidence too low)" : "predicted";
  }

  bars(node) {
    const { points, report } = this;
    const rows = [];
    for (let t = 0; t < points.tops; t++) {
      const number = points.top[node * points.tops + t];
      const share = points.topShare[node * points.tops + t] / 255;
      const bar = element("i", { class: "tip-bar" });
      bar.style.width = `${Math.max(share * 100, 1)}%`;
      bar.style.background = classColour(number);
      rows.push(
        element("span", { class: "tip-name", dir: "auto" }, named(report.classes[number])),
        element("span", { class: "tip-track" }, bar),
        element("span", { class: "tip-share" }, share.toFixed(2)),
      );
    }
    return rows;
  }
}
