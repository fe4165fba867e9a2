/* fixture.mjs - a small scene and its replay, made without tabi: a figure that rocks from foot to foot
 * while it moves along x, and slips a little; enough to see every part of the page at work.
 *
 *   node test/fixture.mjs [--ghost] > out.html      writes it into the built page */
import { readFileSync } from "node:fs";

const MASS = 40;
export const WEIGHT = MASS * 9.81;
const RATE = 50;
const ONE = [1, 0, 0, 0];

export function base64(array) {
  return Buffer.from(array.buffer, array.byteOffset, array.byteLength).toString("base64");
}

function link(name, mass, half) {
  return { name, robot: 0, mass, com: [0, 0, 0], box: { quat: ONE, half } };
}

function box(i, half, colour = null) {
  return { link: i, type: "box", pos: [0, 0, 0], quat: ONE, size: half, colour };
}

export function makeDescription(title = "fixture") {
  const halves = [
    [0.11, 0.14, 0.22],
    [0.11, 0.05, 0.02],
    [0.11, 0.05, 0.02],
    [0.05, 0.05, 0.25],
    [0.05, 0.05, 0.25],
  ];
  const names = ["trunk", "l_foot", "r_foot", "l_leg", "r_leg"];
  return {
    tabi: "0.1.0",
    title,
    path: "fixture.yaml",
    live: false,
    links: names.map((name, i) => link(name, [28, 1, 1, 5, 5][i], halves[i])),
    shapes: [
      { link: -1, type: "plane", pos: [0, 0, 0], quat: ONE, size: [], colour: null },
      box(0, halves[0]),
      box(1, halves[1]),
      box(2, halves[2], [0.2, 0.22, 0.25, 1]),
      { link: 3, type: "capsule", pos: [0, 0, 0], quat: ONE, size: [0.05, 0.22], colour: null },
      { link: 4, type: "cylinder", pos: [0, 0, 0], quat: ONE, size: [0.05, 0.25], colour: null },
      { link: 0, type: "sphere", pos: [0, 0, 0.34], quat: ONE, size: [0.1], colour: null },
      { link: -1, type: "mesh", pos: [1.2, 0.8, 0], quat: ONE, size: [], mesh: 0, colour: null },
    ],
    meshes: [
      {
        vertices: base64(
          new Float32Array([0, 0, 0, 0.6, 0, 0, 0.6, 0.6, 0, 0, 0.6, 0, 0.3, 0.3, 0.4]),
        ),
        triangles: base64(new Uint16Array([0, 1, 4, 1, 2, 4, 2, 3, 4, 3, 0, 4])),
      },
    ],
    joints: names.slice(1).map((name, i) => ({
      name,
      type: "revolute",
      link: i + 1,
      pos: [0, 0, i < 2 ? 0.05 : 0.25],
      axis: [0, 1, 0],
      lower: -1,
      upper: 1,
    })),
    robots: [{ name: "robot", base: 0, feet: [1, 2], weight: WEIGHT }],
    signals: [
      { name: "time", unit: "s", about: "time" },
      { name: "com.y", unit: "m", about: "centre of mass" },
      { name: "com.z", unit: "m", about: "centre of mass" },
      { name: "zmp.y", unit: "m", about: "zero-moment point" },
      { name: "ground.fz", unit: "N", about: "ground reaction force" },
      { name: "margin", unit: "m", about: "stability margin" },
    ],
    weight: WEIGHT,
    rate: RATE,
    start: 0,
    duration: 4,
    settings: {
      contact: "cone",
      contacts: ["cone", "exact"],
      integrator: "semi-implicit",
      timestep: 0.001,
      friction: 0.8,
      gravity: [0, 0, -9.81],
    },
  };
}

/* Where everything is at a time; the shift tells two runs apart. */
function pose(t, shift) {
  const rock = Math.sin(Math.PI * t);
  const x = 0.25 * t + shift;
  const lift = [Math.max(0, -rock) * 0.08, Math.max(0, rock) * 0.08];
  const feet = [1, -1].map((side, i) => [x + 0.1 * side * rock, 0.1 * side, 0.02 + lift[i]]);
  const trunk = [x, 0.06 * rock, 0.78];
  const legs = feet.map((foot) => [
    (foot[0] + trunk[0]) / 2,
    (foot[1] + trunk[1]) / 2,
    0.3 + 0.5 * foot[2],
  ]);
  return { links: [trunk, ...feet, ...legs], feet, lift, rock };
}

function contactsOf({ feet, lift, rock }) {
  const down = lift.map((height) => height < 1e-9 || height === 0);
  const shares = down[0] && down[1] ? [0.5, 0.5] : down.map(Number);
  const list = [];
  feet.forEach((foot, i) => {
    if (!down[i]) return;
    for (const [dx, dy] of [
      [0.11, 0.05],
      [-0.11, 0.05],
      [-0.11, -0.05],
      [0.11, -0.05],
    ]) {
      const fz = (shares[i] * WEIGHT) / 4;
      list.push({
        a: -1,
        b: i + 1,
        status: dx > 0 ? 1 : 2,
        point: [foot[0] + dx, foot[1] + dy, 0],
        normal: [0, 0, 1],
        force: [0.3 * fz * rock, 0.1 * fz, fz],
        friction: 0.8,
        slip: dx > 0 ? 0 : 0.01,
        residual: dx > 0 ? 1e-10 : 1e-5,
        gap: 0,
      });
    }
  });
  return list;
}

function hull(contacts) {
  const xs = contacts.map((c) => c.point[0]);
  const ys = contacts.map((c) => c.point[1]);
  const [a, b, c, d] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  return [
    [a, c],
    [b, c],
    [b, d],
    [a, d],
  ];
}

function makePicture(t, shift) {
  const state = pose(t, shift);
  const contacts = contactsOf(state);
  const corners = contacts.length ? hull(contacts) : [];
  const [trunk] = state.links;
  const zmp = [trunk[0], 1.3 * trunk[1], 0];
  const margin = corners.length ? Math.min(corners[2][1] - zmp[1], zmp[1] - corners[0][1]) : 0;
  const signals = [t, trunk[1], 0.7, zmp[1], contacts.length ? WEIGHT : 0, margin];
  const bytes = 48 + 28 * state.links.length + 4 * signals.length + 64 * contacts.length + 164;
  const view = new DataView(new ArrayBuffer(bytes));
  let at = 0;
  const u32 = (x) => (view.setUint32(at, x, true), (at += 4));
  const i32 = (x) => (view.setInt32(at, x, true), (at += 4));
  const f32 = (x) => (view.setFloat32(at, x, true), (at += 4));
  const f64 = (x) => (view.setFloat64(at, x, true), (at += 8));
  u32(0x69626174);
  u32(bytes);
  f64(t);
  f64(Math.round(1000 * t));
  [state.links.length, signals.length, contacts.length, 1].forEach(u32);
  f32(0);
  u32(2);
  for (const place of state.links) [...place, ...ONE].forEach(f32);
  signals.forEach(f32);
  for (const c of contacts) {
    i32(c.a);
    i32(c.b);
    u32(c.status);
    [...c.point, ...c.normal, ...c.force, c.friction, c.slip, c.residual, c.gap].forEach(f32);
  }
  [trunk[0], trunk[1], 0.7, ...zmp, contacts.length ? WEIGHT : 0, margin].forEach(f32);
  u32(corners.length);
  for (let i = 0; i < 16; ++i) (corners[i] ?? [0, 0]).forEach(f32);
  return Buffer.from(view.buffer);
}

export function makeReplay(seconds = 4, shift = 0) {
  const n = Math.round(seconds * RATE);
  return Buffer.concat(Array.from({ length: n + 1 }, (_, i) => makePicture(i / RATE, shift)));
}

/* The page with runs in it, as `tabi view --html` writes it. */
export function makePage(page, runs) {
  const parts = runs.map(
    ({ description, replay }, k) =>
      `<script type="application/json" id="tabi-scene-${k}">${JSON.stringify(description).replaceAll("</", "<\\/")}</script>` +
      `<script type="text/plain" id="tabi-replay-${k}">${replay.toString("base64")}</script>`,
  );
  const at = page.lastIndexOf("</body>");
  return page.slice(0, at) + parts.join("") + page.slice(at);
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const page = readFileSync(new URL("../dist/index.html", import.meta.url), "utf8");
  const runs = [{ description: makeDescription(), replay: makeReplay() }];
  if (process.argv.includes("--ghost"))
    runs.push({ description: makeDescription("second"), replay: makeReplay(4, 0.12) });
  process.stdout.write(makePage(page, runs));
}
