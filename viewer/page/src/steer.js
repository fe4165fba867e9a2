/* steer.js - the arrow keys steer a robot that walks by a velocity, in a live world that plays.
 *
 * What is held down is sent as shares of the robot's limits: forward, left, turn to the left.  When
 * all keys are up it stops. */

const FORWARD = 0.75;
const BACK = -0.5;

/* keys: those that are down, as KeyboardEvent.key. */
export function velocityOf(keys, shift) {
  const forward = (keys.has("ArrowUp") ? FORWARD : 0) + (keys.has("ArrowDown") ? BACK : 0);
  const left = (keys.has("ArrowLeft") ? 1 : 0) - (keys.has("ArrowRight") ? 1 : 0);
  return shift ? [forward, left, 0] : [forward, 0, left];
}

const ARROWS = ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"];

export class Steer {
  constructor(send) {
    this.send = send;
    this.down = new Set();
    this.sent = "0,0,0";
  }

  /* active: whether arrows steer now. */
  listen(active) {
    const taken = (event) => ARROWS.includes(event.key) && !event.target.matches?.("input, select");
    window.addEventListener(
      "keydown",
      (event) => {
        if (event.key === "Shift" && this.down.size) return this.tell(true);
        if (!taken(event) || event.ctrlKey || event.altKey || event.metaKey || !active()) return;
        /* the player's own arrows are for worlds that pause */
        event.preventDefault();
        event.stopImmediatePropagation();
        this.down.add(event.key);
        this.tell(event.shiftKey);
      },
      true,
    );
    window.addEventListener("keyup", (event) => {
      if (event.key === "Shift" ? !this.down.size : !this.down.delete(event.key)) return;
      this.tell(event.key === "Shift" ? false : event.shiftKey);
    });
    window.addEventListener("blur", () => this.stop());
  }

  stop() {
    this.down.clear();
    this.tell(false);
  }

  tell(shift) {
    const velocity = velocityOf(this.down, shift);
    if (String(velocity) === this.sent) return;
    this.sent = String(velocity);
    this.send({ do: "walk", velocity });
  }
}
