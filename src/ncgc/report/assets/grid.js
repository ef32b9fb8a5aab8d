// Nearest node to a position: nodes are sorted into square cells, and only the cells in reach are searched.

class Grid {
  constructor(x, y) {
    this.x = x;
    this.y = y;
    this.side = Math.max(1, Math.floor(Math.sqrt(x.length / 3)));
    this.start = new Uint32Array(this.side * this.side + 1);
    this.order = new Uint32Array(x.length);
    const cell = new Uint32Array(x.length);
    for (let i = 0; i < x.length; i++) {
      cell[i] = this.line(y[i]) * this.side + this.line(x[i]);
      this.start[cell[i] + 1]++;
    }
    for (let c = 0; c < this.start.length - 1; c++) this.start[c + 1] += this.start[c];
    const next = this.start.slice();
    for (let i = 0; i < x.length; i++) this.order[next[cell[i]]++] = i;
  }

  line(value) {
    return clamp(Math.floor(value * this.side), 0, this.side - 1);
  }

  // The nearest node within reach for which allowed(node) holds, or -1.
  nearest(px, py, reach, allowed) {
    let best = -1;
    let least = reach * reach;
    for (let row = this.line(py - reach); row <= this.line(py + reach); row++) {
      for (let column = this.line(px - reach); column <= this.line(px + reach); column++) {
        const c = row * this.side + column;
        for (let k = this.start[c]; k < this.start[c + 1]; k++) {
          const i = this.order[k];
          const distance = (this.x[i] - px) ** 2 + (this.y[i] - py) ** 2;
          if (distance <= least && allowed(i)) {
            least = distance;
            best = i;
          }
        }
      }
    }
    return best;
  }
}
