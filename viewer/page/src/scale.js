/* scale.js - how large markers are drawn, and how long the arrow of a force is, both by the size
 * and weight of what the scene holds. */

/* m, a length that belongs to the scene: a robot's size, or a few of its loose bodies. */
export function unitLength(description, bounds) {
  if (description.robots.length && !bounds.isEmpty()) {
    const height = Math.max(...bounds.max.clone().sub(bounds.min).toArray());
    return Math.min(Math.max(height, 0.2), 1.6);
  }
  const sizes = description.links
    .filter((link) => link.mass > 0 && link.box)
    .map((link) => 2 * Math.max(...link.box.half))
    .sort((a, b) => a - b);
  const median = sizes[sizes.length >> 1] ?? 0.3;
  return Math.min(Math.max(3 * median, 0.1), 1.6);
}

/* N, a force that is drawn one unit long: somewhat more than a robot's weight, or that of a few
 * loose bodies. */
export function unitForce(description) {
  const heaviest = Math.max(0, ...description.robots.map((robot) => robot.weight));
  if (heaviest > 0) return 1.4 * heaviest;
  const massive = description.links.filter((link) => link.mass > 0).length;
  return Math.max((3 * description.weight) / Math.max(massive, 1), 1e-6);
}

/* Length of an arrow in units, for a force in units.  At 1 all three agree. */
export const SCALINGS = {
  linear: (f) => f,
  "square root": (f) => Math.sqrt(f),
  logarithm: (f) => Math.log10(1 + 999 * f) / 3,
};
