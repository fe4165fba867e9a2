/* colours.js - the page's colours: what things are, and scales from good to bad. */
import { Color } from "three";

export const BACKGROUND = 0xf3f5f8;
export const INK = "#1c2733";

export const STATUS_COLOURS = [new Color(0x9aa5b1), new Color(0x1b9e5a), new Color(0xf08c00)];
export const FORCE = new Color(0xd6336c);
export const DARK = new Color(0x20262e);
export const COM = new Color(0xffc53d);
export const ZMP = new Color(0x1c62d6);
export const BAND = new Color(0xe8590c);
export const GHOST = { colour: new Color(0x4c7ef3), opacity: 0.28, nearer: -1 };
export const COLLISION = { colour: new Color(0xf08c00), opacity: 0.3, nearer: 1 };
export const AXIS = {
  revolute: new Color(0x1c62d6),
  continuous: new Color(0x1c62d6),
  prismatic: new Color(0x0b8a7a),
};
export const TRAILS = [0x1c62d6, 0xd6336c, 0x0b8a7a, 0xe8590c];
export const CURVES = [
  "#1c62d6",
  "#d6336c",
  "#0b8a7a",
  "#e8790c",
  "#7048e8",
  "#5c6b7a",
  "#2b8a3e",
  "#a61e4d",
];

const ROBOTS = [
  { hue: 0.59, saturation: 0.2, lightness: 0.66 },
  { hue: 0.07, saturation: 0.45, lightness: 0.62 },
  { hue: 0.46, saturation: 0.3, lightness: 0.55 },
  { hue: 0.8, saturation: 0.22, lightness: 0.64 },
];
const WORLD = new Color(0xd9dde3);

/* A link's colour: a family for each robot, neighbours a little apart; loose bodies all differ. */
export function paletteColour(link, robot, out) {
  if (link < 0) return out.copy(WORLD);
  if (robot < 0) return out.setHSL((0.57 + link * 0.381966) % 1, 0.4, 0.62);
  const family = ROBOTS[robot % ROBOTS.length];
  const shade = [0, -0.12, 0.08, -0.05, 0.04][link % 5];
  return out.setHSL(family.hue, family.saturation, family.lightness + shade);
}

/* Green at 0 over yellow to red at 1; beyond, darker. */
export function goodToBad(x, out) {
  const t = Math.min(Math.max(x, 0), 1);
  return out.setHSL(0.37 * (1 - t), 0.78, x > 1.001 ? 0.3 : 0.44);
}

/* Residuals span decades: 1e-12 m/s is good, 1e-2 m/s bad. */
export function residualColour(residual, out) {
  const decades = Math.log10(Math.max(residual, 1e-12)) + 12;
  return goodToBad(decades / 10, out);
}
