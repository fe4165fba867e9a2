/* stopwatch.js - how long script took in each of the last frames. */

const FRAMES = 240;

export class Stopwatch {
  constructor() {
    this.script = new Float64Array(FRAMES);
    this.count = 0;
  }

  add(ms) {
    this.script[this.count++ % FRAMES] = ms;
  }

  get median() {
    const n = Math.min(this.count, FRAMES);
    return n ? this.script.slice(0, n).sort()[n >> 1] : 0;
  }
}
