/* picture_times.js - how long script took for each of the last pictures, and whether pictures come
 * too slowly to look like motion. */

const PICTURES = 240;
const WARM_UP = 4; /* pictures, in which shaders are compiled */
const JUDGED = 30; /* pictures, or as many as come in .. */
const ENOUGH = 1.5; /* s */
const PAUSE = 0.7; /* s; who looks at another page meanwhile makes longer ones */
const SLOW = 0.045; /* s between pictures */

export class PictureTimes {
  constructor() {
    this.script = new Float64Array(PICTURES);
    this.count = -WARM_UP;
    this.drawn = -WARM_UP; /* pictures, of those that were drawn and not left as they were */
    this.seconds = 0; /* that those took, from one to the next */
    this.done = false;
    this.judged = false;
    this.wasDrawn = false;
  }

  /* ms of script for a picture, s since the picture before, and whether this one was drawn. */
  add(ms, seconds, drawn) {
    if (this.count >= 0) this.script[this.count % PICTURES] = ms;
    ++this.count;
    if (this.wasDrawn && !this.done && ++this.drawn > 0)
      this.seconds += Math.min(seconds, PAUSE);
    this.judged = !this.done && (this.drawn === JUDGED || this.seconds > ENOUGH);
    this.done ||= this.judged;
    this.wasDrawn = drawn;
  }

  /* NaN until the first picture that counts. */
  get median() {
    const n = Math.min(this.count, PICTURES);
    return n > 0 ? this.script.slice(0, n).sort()[n >> 1] : NaN;
  }

  /* Once, when enough pictures were drawn. */
  get isSlow() {
    return this.judged && this.seconds > SLOW * this.drawn;
  }
}
