/* picture_times.js - how long script took for each of the last pictures, and whether pictures come
 * too slowly to look like motion. */

const PICTURES = 240;
const WARM_UP = 5; /* pictures, in which shaders are compiled */
const JUDGED = 30; /* pictures */
const SLOW = 0.045; /* s between pictures */

export class PictureTimes {
  constructor() {
    this.script = new Float64Array(PICTURES);
    this.count = -WARM_UP;
    this.seconds = 0;
  }

  /* ms of script for a picture, s since the picture before. */
  add(ms, seconds) {
    if (this.count >= 0) {
      this.script[this.count % PICTURES] = ms;
      if (this.count < JUDGED) this.seconds += seconds;
    }
    ++this.count;
  }

  /* NaN until the first picture that counts. */
  get median() {
    const n = Math.min(this.count, PICTURES);
    return n > 0 ? this.script.slice(0, n).sort()[n >> 1] : NaN;
  }

  /* Once, when enough pictures were seen. */
  get isSlow() {
    return this.count === JUDGED && this.seconds > SLOW * JUDGED;
  }
}
