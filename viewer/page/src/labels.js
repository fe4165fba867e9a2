/* labels.js - short texts at places of the scene, kept in a pool of elements. */

export class Labels {
  constructor(element) {
    this.element = element;
    this.pool = [];
    this.used = 0;
    this.width = 0;
    this.height = 0;
  }

  resize(width, height) {
    this.width = width;
    this.height = height;
  }

  begin() {
    this.used = 0;
  }

  /* point is changed: it becomes the place on the screen. */
  put(point, camera, text) {
    point.project(camera);
    if (point.z > 1) return;
    const label = this.pool[this.used] ?? this.make();
    const x = (0.5 + 0.5 * point.x) * this.width;
    const y = (0.5 - 0.5 * point.y) * this.height;
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
