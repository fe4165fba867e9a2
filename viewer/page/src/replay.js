/* replay.js - pictures as tabi writes them (docs/viewer.md), and a history of them.
 *
 * A replay is one block of bytes; a live history grows by one message at a time and forgets its
 * beginning.  Both are read in place: a Picture is a window that is moved from one to the next. */

const MAGIC = 0x69626174;
const HEADER_BYTES = 48;
const LINK_WORDS = 7;
const CONTACT_WORDS = 16;
const ROBOT_WORDS = 41;

export const STATUS = { SEPARATING: 0, STICK: 1, SLIP: 2 };
export const FLAG = { PAUSED: 1, CONVERGED: 2, DIVERGED: 4 };

/* One picture's numbers, at offsets into the words of its block. */
export class Picture {
  constructor() {
    this.f32 = null;
    this.i32 = null;
    this.time = 0;
    this.step = 0;
    this.factor = 0;
    this.flags = 0;
    this.nlink = 0;
    this.nsignal = 0;
    this.ncontact = 0;
    this.nrobot = 0;
  }

  link(i) {
    return this.links + i * LINK_WORDS;
  }

  signal(i) {
    return i < this.nsignal ? this.f32[this.signals + i] : NaN;
  }

  contact(i) {
    return this.contacts + i * CONTACT_WORDS;
  }

  robot(i) {
    return this.robots + i * ROBOT_WORDS;
  }
}

/* Words of a contact after its offset. */
export const CONTACT = {
  A: 0,
  B: 1,
  STATUS: 2,
  POINT: 3,
  NORMAL: 6,
  FORCE: 9,
  FRICTION: 12,
  SLIP: 13,
  RESIDUAL: 14,
  GAP: 15,
};
/* Words of a robot after its offset. */
export const ROBOT = { COM: 0, ZMP: 3, FORCE: 6, MARGIN: 7, NCORNER: 8, CORNER: 9 };

function checkPicture(view, at, end) {
  if (at + HEADER_BYTES > end || view.getUint32(at, true) !== MAGIC) {
    throw new Error(`the replay is damaged at byte ${at}: no picture begins there; write it again`);
  }
  const bytes = view.getUint32(at + 4, true);
  const n = (k) => view.getUint32(at + 24 + 4 * k, true);
  const words = n(0) * LINK_WORDS + n(1) + n(2) * CONTACT_WORDS + n(3) * ROBOT_WORDS;
  if (bytes !== HEADER_BYTES + 4 * words || at + bytes > end) {
    throw new Error(
      `the replay is damaged at byte ${at}: its size and its counts disagree; write it again`,
    );
  }
  return bytes;
}

export class Replay {
  /* limit: pictures kept, bytes kept. */
  constructor(limit = { pictures: Infinity, bytes: Infinity }) {
    this.limit = limit;
    this.picture = new Picture();
    this.clear();
  }

  clear() {
    this.blocks = []; /* {view, f32, i32} of each picture, shared within a replay */
    this.offsets = [];
    this.sizes = [];
    this.times = [];
    this.bytes = 0;
    this.forgotten = 0; /* pictures at the beginning; keeps what others count in place */
    this.shown = -1;
  }

  get count() {
    return this.times.length;
  }

  get start() {
    return this.count ? this.times[0] : 0;
  }

  get end() {
    return this.count ? this.times[this.count - 1] : 0;
  }

  /* Takes a block of pictures one after another. */
  append(buffer) {
    const block = {
      view: new DataView(buffer),
      f32: new Float32Array(buffer, 0, buffer.byteLength >> 2),
      i32: new Int32Array(buffer, 0, buffer.byteLength >> 2),
    };
    for (let at = 0; at < buffer.byteLength;) {
      const bytes = checkPicture(block.view, at, buffer.byteLength);
      this.blocks.push(block);
      this.offsets.push(at);
      this.sizes.push(bytes);
      this.times.push(block.view.getFloat64(at + 8, true));
      this.bytes += bytes;
      at += bytes;
    }
    if (this.count > this.limit.pictures || this.bytes > this.limit.bytes) this.forget();
  }

  /* Without the last picture, whose place another takes. */
  drop() {
    this.bytes -= this.sizes.pop();
    for (const list of [this.blocks, this.offsets, this.times]) list.pop();
    this.shown = -1;
  }

  /* A tenth at once, since taking from the front moves the rest. */
  forget() {
    const n = Math.ceil(this.count / 10);
    for (let i = 0; i < n; ++i) this.bytes -= this.sizes[i];
    for (const list of [this.blocks, this.offsets, this.sizes, this.times]) list.splice(0, n);
    this.forgotten += n;
    this.shown = -1;
  }

  /* Moves the window to picture i and returns it. */
  at(i) {
    if (i === this.shown) return this.picture;
    const { view, f32, i32 } = this.blocks[i];
    const at = this.offsets[i];
    const p = this.picture;
    p.f32 = f32;
    p.i32 = i32;
    p.time = this.times[i];
    p.step = view.getFloat64(at + 16, true);
    p.nlink = view.getUint32(at + 24, true);
    p.nsignal = view.getUint32(at + 28, true);
    p.ncontact = view.getUint32(at + 32, true);
    p.nrobot = view.getUint32(at + 36, true);
    p.factor = view.getFloat32(at + 40, true);
    p.flags = view.getUint32(at + 44, true);
    p.links = (at + HEADER_BYTES) >> 2;
    p.signals = p.links + p.nlink * LINK_WORDS;
    p.contacts = p.signals + p.nsignal;
    p.robots = p.contacts + p.ncontact * CONTACT_WORDS;
    this.shown = i;
    return p;
  }

  /* The last picture at or before a time, with a hair's breadth for rounding; the first if none is. */
  find(time) {
    let low = 0;
    let high = this.count - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.times[middle] <= time + 1e-9) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /* Value of a signal in picture i, without moving the window. */
  value(i, signal) {
    const base = this.offsets[i];
    const { view } = this.blocks[i];
    if (signal < 0 || signal >= view.getUint32(base + 28, true)) return NaN;
    const links = view.getUint32(base + 24, true);
    return view.getFloat32(base + HEADER_BYTES + 4 * (links * LINK_WORDS + signal), true);
  }

  /* Value of a signal at a time, on the straight line between two pictures; none outside the replay. */
  valueAt(time, signal) {
    if (time < this.start - 1e-9 || time > this.end + 1e-9) return NaN;
    const i = this.find(time);
    const value = this.value(i, signal);
    if (i + 1 >= this.count || time <= this.times[i]) return value;
    const part = (time - this.times[i]) / (this.times[i + 1] - this.times[i]);
    return value + part * (this.value(i + 1, signal) - value);
  }

  /* Where a point of a link is in picture i, into out. */
  linkPoint(i, link, local, out) {
    const at = ((this.offsets[i] + HEADER_BYTES) >> 2) + link * LINK_WORDS;
    const { f32 } = this.blocks[i];
    const [w, x, y, z] = [f32[at + 3], f32[at + 4], f32[at + 5], f32[at + 6]];
    /* t = 2 u x p;  p + w t + u x t */
    const tx = 2 * (y * local.z - z * local.y);
    const ty = 2 * (z * local.x - x * local.z);
    const tz = 2 * (x * local.y - y * local.x);
    out.x = f32[at] + local.x + w * tx + y * tz - z * ty;
    out.y = f32[at + 1] + local.y + w * ty + z * tx - x * tz;
    out.z = f32[at + 2] + local.z + w * tz + x * ty - y * tx;
    return out;
  }
}
