/* player.js - which picture is shown: time, speed, and whether it runs.
 *
 * Replays run by the page's clock.  A live world runs by its own: the page shows its newest picture
 * until someone looks back, which pauses the world. */

export const SPEEDS = [1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8];

/* ms during which pictures on their way may contradict the last command. */
const COMMAND_DELAY = 500;

export class Player {
  /* live: null, or what carries commands to the world. */
  constructor(replay, live) {
    this.replay = replay;
    this.live = live;
    this.time = replay.start;
    this.playing = Boolean(live);
    this.newest = Boolean(live); /* shows whatever comes */
    this.speed = 1;
    this.commanded = -Infinity;
    this.onend = () => {};
  }

  get index() {
    return this.replay.find(this.time);
  }

  get atEnd() {
    return this.time >= this.replay.end - 1e-9;
  }

  /* wall: s since the last call. */
  advance(wall) {
    if (!this.playing || this.live || !this.replay.count) return;
    this.time += Math.min(wall, 0.25) * this.speed;
    if (this.time < this.replay.end) return;
    this.time = this.replay.end;
    this.playing = false;
    this.onend();
  }

  command(what) {
    this.commanded = performance.now();
    this.live?.send(what);
  }

  play() {
    if (!this.live && this.atEnd) this.time = this.replay.start;
    this.playing = true;
    if (!this.live) return;
    this.newest = true;
    this.time = this.replay.end;
    this.command({ do: "play" });
  }

  pause() {
    if (this.playing) this.command({ do: "pause" });
    this.playing = false;
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  seek(time) {
    this.pause();
    this.time = Math.min(Math.max(time, this.replay.start), this.replay.end);
    this.newest = false;
  }

  /* n pictures on or back; beyond what a live world has shown, steps of the world. */
  step(n) {
    const to = this.index + n;
    this.pause();
    if (this.live && n > 0 && to >= this.replay.count) {
      this.newest = true;
      for (let k = this.replay.count; k <= to; ++k) this.command({ do: "step" });
    } else if (this.replay.count) {
      this.newest = false;
      this.time = this.replay.times[Math.min(Math.max(to, 0), this.replay.count - 1)];
    }
  }

  reset() {
    if (!this.live) return this.seek(this.replay.start);
    this.newest = true;
    this.command({ do: "reset" });
  }

  setSpeed(speed) {
    this.speed = speed;
    this.command({ do: "speed", value: speed });
  }

  faster(n) {
    const at = SPEEDS.indexOf(this.speed);
    this.setSpeed(SPEEDS[Math.min(Math.max(at + n, 0), SPEEDS.length - 1)]);
  }

  /* Without its world the past remains, and can be looked at. */
  setLine(up) {
    this.playing = up;
    this.newest = up;
  }

  /* A live world sent a picture.  It may have paused by itself, or because another page said so. */
  received(paused) {
    if (performance.now() - this.commanded > COMMAND_DELAY && paused === this.playing) {
      this.playing = !paused;
      if (this.playing) this.newest = true;
    }
    if (this.newest || !this.replay.count) this.time = this.replay.end;
  }
}
