/* labels.js - short texts at places of the scene, kept in a pool of elements.  One that would hide
 * another moves down, and is left out where there is no room. */

const HEIGHT = 15; /* pixels of a label */
const LETTER = 6.6; /* pixels of a letter, about */
const MOVES = 6;

export class Labels {
  constructor(element) {
    this.element = element;
    this.pool = [];
    this.used = 0;
    this.taken = []; /* places in this picture: {x, y, width} */
    this.width = 0;
    this.height = 0;
  }

  resize(width, height) {
    this.width = width;
    this.height = height;
  }

  begin() {
    this.used = 0;
    this.taken.length = 0;
  }

  /* The first y from here on where a text hides no other; NaN: none is near. */
  room(x, y, width) {
    for (let k = 0; k < MOVES; ++k) {
      const hidden = this.taken.find(
        (other) =>
          Math.abs(other.y - y) < HEIGHT && x < other.x + other.width && other.x < x + width,
      );
      if (!hidden) return y;
      y = hidden.y + HEIGHT;
    }
    return NaN;
  }

  /* point is changed: it becomes the place on the screen. */
  put(point, camera, text) {
    point.project(camera);
    if (point.z > 1) return;
    const x = (0.5 + 0.5 * point.x) * this.width;
    const width = LETTER * text.length + 6;
    const y = this.room(x, (0.5 - 0.5 * point.y) * this.height, width);
    if (Number.isNaN(y)) return;
    this.taken.push({ x, y, width });
    const label = this.pool[this.used] ?? this.make();
    label.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
    if (label.textContent !== text) label.textContent = text;
    label.hidden = false;
    ++this.used;
  }

  make() {
    const label = document.createElement("span");
    this.element.append(label);
    this.pool.push(label);
    return label;
  }

  end() {
    for (let i = this.used; i < this.pool.length; ++i) this.pool[i].hidden = true;
  }
}
