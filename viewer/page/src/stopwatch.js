/* stopwatch.js - how long script took in each of the last frames, and whether frames come too
 * slowly to look like motion. */

const FRAMES = 240;
const WARM_UP = 5; /* frames, in which shaders are compiled */
const JUDGED = 30; /* frames */
const SLOW = 0.045; /* s between frames */

export class Stopwatch {
  constructor() {
    this.script = new Float64Array(FRAMES);
    this.count = -WARM_UP;
    this.seconds = 0;
  }

  /* ms of script in a frame, s since the frame before. */
  add(ms, seconds) {
    if (this.count >= 0) {
      this.script[this.count % FRAMES] = ms;
      if (this.count < JUDGED) this.seconds += seconds;
    }
    ++this.count;
  }

  /* NaN until the first frame that counts. */
  get median() {
    const n = Math.min(this.count, FRAMES);
    return n > 0 ? this.script.slice(0, n).sort()[n >> 1] : NaN;
  }

  /* Once, when enough frames were seen. */
  get isSlow() {
    return this.count === JUDGED && this.seconds > SLOW * JUDGED;
  }
}
