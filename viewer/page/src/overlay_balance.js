/* overlay_balance.js - how robots stand: centre of mass with its plumb line, zero-moment point,
 * and the support polygon, green where the margin is wide and red where it is gone. */
import {
  BufferAttribute,
  BufferGeometry,
  Color,
  CylinderGeometry,
  Float32BufferAttribute,
  Group,
  Matrix4,
  MeshBasicMaterial,
  MeshLambertMaterial,
  RingGeometry,
  SphereGeometry,
} from "three";
import { COM, DARK, ZMP, goodToBad } from "./colours.js";
import { ROBOT } from "./replay.js";
import { Instances, discard, overlay } from "./instances.js";

const CORNERS = 16;
const WIDE = 0.05; /* m, a margin that is drawn green */
const STILL = new Matrix4();

const colour = new Color();

/* The sign draughtsmen use, in octants: those of one colour (1) or of the other (-1). */
function octants(which) {
  const ball = new SphereGeometry(1, 32, 16).toNonIndexed();
  const { array } = ball.getAttribute("position");
  const kept = [];
  for (let i = 0; i < array.length; i += 9) {
    const middle = (k) => array[i + k] + array[i + k + 3] + array[i + k + 6];
    if (middle(0) * middle(1) * middle(2) * which > 0) kept.push(...array.slice(i, i + 9));
  }
  const half = new BufferGeometry();
  half.setAttribute("position", new Float32BufferAttribute(kept, 3));
  half.setAttribute("normal", new Float32BufferAttribute(kept, 3)); /* of the unit sphere */
  return half;
}

/* A fan around the first corner. */
function fan() {
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(new Float32Array(3 * CORNERS), 3));
  geometry.setIndex(Array.from({ length: CORNERS - 2 }, (_, i) => [0, i + 1, i + 2]).flat());
  return geometry;
}

export class BalanceOverlay {
  constructor(scene, unit) {
    this.unit = unit;
    this.group = new Group();
    scene.add(this.group);
    const add = (geometry, material, order) =>
      new Instances(this.group, geometry, overlay(material), order);
    this.coms = add(octants(1), new MeshLambertMaterial(), 8);
    this.darks = add(octants(-1), new MeshLambertMaterial(), 8);
    this.zmps = add(new RingGeometry(0.55, 1, 32), new MeshBasicMaterial(), 8);
    this.dots = add(new SphereGeometry(1, 14, 10), new MeshBasicMaterial(), 8);
    const stick = new CylinderGeometry(1, 1, 1, 8).rotateX(Math.PI / 2).translate(0, 0, 0.5);
    this.sticks = add(stick, new MeshBasicMaterial(), 5);
    this.sets = [this.coms, this.darks, this.zmps, this.dots, this.sticks];
    this.polygons = []; /* of each robot */
  }

  update(picture, options) {
    for (const set of this.sets) set.begin();
    for (let i = 0; i < picture.nrobot; ++i) {
      const at = picture.robot(i);
      const standing = picture.f32[at + ROBOT.FORCE] > 0;
      if (options.com) this.putCom(picture.f32, at, standing);
      if (options.zmp && standing) this.putZmp(picture.f32, at);
      this.putPolygon(picture, at, i, options.polygon && standing);
    }
    for (const set of this.sets) set.end();
  }

  putCom(f32, at, standing) {
    const [x, y, z] = [f32[at], f32[at + 1], f32[at + 2]];
    if (x === 0 && y === 0 && z === 0) return; /* of what does not move, or was not computed */
    this.coms.putAt(x, y, z, 0.02 * this.unit, COM);
    this.darks.putAt(x, y, z, 0.02 * this.unit, DARK);
    const drop = z - f32[at + ROBOT.ZMP + 2];
    if (!standing || !(drop > 0)) return;
    this.sticks.putAlong(x, y, z, 0, 0, -1, 0.0016 * this.unit, drop, COM);
    this.dots.putAt(x, y, z - drop, 0.006 * this.unit, COM);
  }

  putZmp(f32, at) {
    const [x, y, z] = [f32[at + ROBOT.ZMP], f32[at + ROBOT.ZMP + 1], f32[at + ROBOT.ZMP + 2]];
    if (!Number.isFinite(x + y + z)) return;
    this.zmps.putAt(x, y, z, 0.017 * this.unit, ZMP);
    this.dots.putAt(x, y, z, 0.004 * this.unit, ZMP);
  }

  putPolygon({ f32, i32 }, at, robot, wanted) {
    const n = wanted ? Math.min(i32[at + ROBOT.NCORNER], CORNERS) : 0;
    const polygon = this.polygon(robot);
    const place = polygon.geometry.getAttribute("position");
    const z = f32[at + ROBOT.ZMP + 2];
    const corners = at + ROBOT.CORNER;
    goodToBad(1 - f32[at + ROBOT.MARGIN] / WIDE, colour);
    for (let i = 0; i < n && n > 1; ++i) {
      const [x, y] = [f32[corners + 2 * i], f32[corners + 2 * i + 1]];
      const k = corners + 2 * ((i + 1) % n);
      const [dx, dy] = [f32[k] - x, f32[k + 1] - y];
      place.setXYZ(i, x, y, z);
      this.sticks.putAlong(x, y, z, dx, dy, 0, 0.0025 * this.unit, Math.hypot(dx, dy), colour);
    }
    place.needsUpdate = true;
    polygon.geometry.setDrawRange(0, Math.max(3 * (n - 2), 0));
    polygon.begin();
    if (n > 2) polygon.put(STILL, colour);
    polygon.end();
  }

  polygon(robot) {
    this.polygons[robot] ??= new Instances(
      this.group,
      fan(),
      overlay(new MeshBasicMaterial(), 0.3),
      4,
    );
    return this.polygons[robot];
  }

  dispose() {
    discard(this.group);
  }
}
