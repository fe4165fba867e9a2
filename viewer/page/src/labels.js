/* labels.js - short texts at places of the scene, kept in a pool of elements. */

export class Labels {
  constructor(element) {
    this.element = element;
    this.pool = [];
    this.used = 0;
  }

  begin() {
    this.used = 0;
  }

  /* point is changed: it becomes the place on the screen. */
  put(point, camera, text) {
    point.project(camera);
    if (point.z > 1) return;
    const { clientWidth, clientHeight } = this.element;
    const label = this.pool[this.used] ?? this.make();
    const x = (0.5 + 0.5 * point.x) * clientWidth;
    const y = (0.5 - 0.5 * point.y) * clientHeight;
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
