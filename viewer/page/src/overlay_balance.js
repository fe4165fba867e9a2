/* overlay_balance.js - how robots stand: centre of mass with its plumb line, zero-moment point,
 * and the support polygon, green where the margin is wide and red where it is gone. */
import {
  BufferAttribute,
  BufferGeometry,
  Color,
  CylinderGeometry,
  DoubleSide,
  Float32BufferAttribute,
  Group,
  Mesh,
  MeshBasicMaterial,
  MeshLambertMaterial,
  RingGeometry,
  SphereGeometry,
} from "three";
import { COM, ZMP, goodToBad } from "./colours.js";
import { ROBOT } from "./film.js";
import { Instances, discard } from "./instances.js";

const CORNERS = 16;
const WIDE = 0.05; /* m, a margin that is drawn green */

const colour = new Color();

function overlay(material, opacity = 1) {
  return Object.assign(material, {
    transparent: true,
    opacity,
    depthTest: false,
    depthWrite: false,
  });
}

/* The sign draughtsmen use: quarters black and white, here octants dark and yellow. */
function comGeometry() {
  const ball = new SphereGeometry(1, 32, 16).toNonIndexed();
  const p = ball.getAttribute("position");
  const colours = new Float32Array(3 * p.count);
  const dark = new Color(0x20262e);
  for (let i = 0; i < p.count; i += 3) {
    let sign = 1;
    for (const get of ["getX", "getY", "getZ"])
      sign *= Math.sign(p[get](i) + p[get](i + 1) + p[get](i + 2));
    for (let k = 0; k < 3; ++k) (sign > 0 ? COM : dark).toArray(colours, 3 * (i + k));
  }
  ball.setAttribute("color", new Float32BufferAttribute(colours, 3));
  return ball;
}

export class BalanceOverlay {
  constructor(scene, unit) {
    this.unit = unit;
    this.group = new Group();
    scene.add(this.group);
    const com = overlay(new MeshLambertMaterial({ vertexColors: true }));
    this.coms = new Instances(this.group, comGeometry(), com, 8);
    const ring = new RingGeometry(0.55, 1, 32);
    this.zmps = new Instances(
      this.group,
      ring,
      overlay(new MeshBasicMaterial({ side: DoubleSide })),
      8,
    );
    this.dots = new Instances(
      this.group,
      new SphereGeometry(1, 14, 10),
      overlay(new MeshBasicMaterial()),
      8,
    );
    const stick = new CylinderGeometry(1, 1, 1, 8).rotateX(Math.PI / 2).translate(0, 0, 0.5);
    this.sticks = new Instances(this.group, stick, overlay(new MeshBasicMaterial(), 0.85), 5);
    this.polygons = [];
  }

  update(picture, options) {
    for (const set of [this.coms, this.zmps, this.dots, this.sticks]) set.begin();
    for (let i = 0; i < picture.nrobot; ++i) {
      const at = picture.robot(i);
      const standing = picture.f32[at + ROBOT.FORCE] > 0;
      if (options.com) this.putCom(picture.f32, at, standing);
      if (options.zmp && standing) this.putZmp(picture.f32, at);
      this.putPolygon(picture, at, i, options.polygon && standing);
    }
    for (let i = picture.nrobot; i < this.polygons.length; ++i) this.polygons[i].visible = false;
    for (const set of [this.coms, this.zmps, this.dots, this.sticks]) set.end();
  }

  putCom(f32, at, standing) {
    const [x, y, z] = [f32[at], f32[at + 1], f32[at + 2]];
    if (x === 0 && y === 0 && z === 0) return; /* of what does not move, or was not computed */
    this.coms.putAt(x, y, z, 0.02 * this.unit);
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
    const mesh = this.polygons[robot] ?? this.makePolygon(robot);
    mesh.visible = n >= 3;
    if (n < 2) return;
    const z = f32[at + ROBOT.ZMP + 2];
    const corners = at + ROBOT.CORNER;
    goodToBad(1 - f32[at + ROBOT.MARGIN] / WIDE, colour);
    const place = mesh.geometry.getAttribute("position");
    for (let i = 0; i < n; ++i) {
      const [x, y] = [f32[corners + 2 * i], f32[corners + 2 * i + 1]];
      const k = corners + 2 * ((i + 1) % n);
      const [dx, dy] = [f32[k] - x, f32[k + 1] - y];
      place.setXYZ(i, x, y, z);
      this.sticks.putAlong(x, y, z, dx, dy, 0, 0.0025 * this.unit, Math.hypot(dx, dy), colour);
    }
    place.needsUpdate = true;
    mesh.geometry.setDrawRange(0, 3 * (n - 2));
    mesh.material.color.copy(colour);
  }

  /* A fan around the first corner. */
  makePolygon(robot) {
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(new Float32Array(3 * CORNERS), 3));
    geometry.setIndex(Array.from({ length: CORNERS - 2 }, (_, i) => [0, i + 1, i + 2]).flat());
    const mesh = new Mesh(geometry, overlay(new MeshBasicMaterial({ side: DoubleSide }), 0.3));
    mesh.frustumCulled = false;
    mesh.renderOrder = 4;
    this.group.add(mesh);
    this.polygons[robot] = mesh;
    return mesh;
  }

  dispose() {
    discard(this.group);
  }
}
