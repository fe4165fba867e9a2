/* overlay_contacts.js - where bodies touch: points by status, forces, friction cones, residuals. */
import {
  Color,
  ConeGeometry,
  CylinderGeometry,
  DoubleSide,
  Group,
  MeshBasicMaterial,
  MeshLambertMaterial,
  SphereGeometry,
  Vector3,
} from "three";
import { FORCE, STATUS_COLOURS, goodToBad, residualColour } from "./colours.js";
import { CONTACT } from "./replay.js";
import { Arrows, Instances, discard, overlay } from "./instances.js";
import { SCALINGS } from "./scale.js";

const MAX_LABELS = 24; /* more cannot be read */
const MAX_FRICTION = 5; /* cones of more friction are drawn with this */

const colour = new Color();
const point = new Vector3();

/* A cone whose apex is the origin, that opens along z to height 1 and radius 1. */
function openCone() {
  return new ConeGeometry(1, 1, 40, 1, true).rotateX(-Math.PI / 2).translate(0, 0, 0.5);
}

export class ContactOverlay {
  /* moves(link): whether it does. */
  constructor(scene, { unit, force, labels, moves }) {
    this.unit = unit;
    this.force = force;
    this.labels = labels;
    this.moves = moves;
    this.group = new Group();
    scene.add(this.group);
    const shaft = new CylinderGeometry(1, 1, 1, 14).rotateX(Math.PI / 2).translate(0, 0, 0.5);
    const head = new ConeGeometry(1, 1, 20).rotateX(Math.PI / 2).translate(0, 0, 0.5);
    const cone = new MeshBasicMaterial({
      transparent: true,
      opacity: 0.34,
      side: DoubleSide,
      depthWrite: false,
    });
    this.cones = new Instances(this.group, openCone(), cone, 3);
    this.arrows = new Arrows(
      this.group,
      shaft,
      head,
      overlay(new MeshLambertMaterial({ emissive: 0x5c1030 }), 0.94),
      6,
    );
    const ball = new SphereGeometry(1, 18, 12);
    this.points = new Instances(this.group, ball, overlay(new MeshLambertMaterial(), 1), 7);
  }

  update(picture, options, camera) {
    const { points, arrows, cones } = this;
    points.begin();
    arrows.begin();
    cones.begin();
    for (let i = 0; i < picture.ncontact; ++i) {
      const at = picture.contact(i);
      if (options.contacts || options.residuals) this.putPoint(picture, at, options);
      if (options.forces) this.putForce(picture, at, options);
      if (options.cones) this.putCone(picture, at);
    }
    points.end();
    arrows.end();
    cones.end();
    this.updateLabels(picture, options, camera);
  }

  putPoint({ f32, i32 }, at, options) {
    const p = at + CONTACT.POINT;
    if (options.residuals) residualColour(f32[at + CONTACT.RESIDUAL], colour);
    else colour.copy(STATUS_COLOURS[i32[at + CONTACT.STATUS]] ?? STATUS_COLOURS[0]);
    this.points.putAt(f32[p], f32[p + 1], f32[p + 2], 0.008 * this.unit, colour);
  }

  /* 1 if the force on b is drawn, -1 if that on a, since b is a floor or the like. */
  side({ i32 }, at) {
    return this.moves(i32[at + CONTACT.B]) ? 1 : -1;
  }

  putForce(picture, at, options) {
    const { f32 } = picture;
    const p = at + CONTACT.POINT;
    const f = at + CONTACT.FORCE;
    const size = Math.hypot(f32[f], f32[f + 1], f32[f + 2]);
    if (!(size > options.threshold) || size === 0) return;
    const sign = this.side(picture, at) / size;
    const length = this.unit * options.forceSize * SCALINGS[options.scaling](size / this.force);
    this.arrows.put(
      f32[p],
      f32[p + 1],
      f32[p + 2],
      sign * f32[f],
      sign * f32[f + 1],
      sign * f32[f + 2],
      length,
      0.0055 * this.unit,
      FORCE,
    );
  }

  /* How much of the friction is used: |ft| / (mu fn). */
  putCone(picture, at) {
    const { f32 } = picture;
    const p = at + CONTACT.POINT;
    const n = at + CONTACT.NORMAL;
    const f = at + CONTACT.FORCE;
    const mu = f32[at + CONTACT.FRICTION];
    const normal = f32[f] * f32[n] + f32[f + 1] * f32[n + 1] + f32[f + 2] * f32[n + 2];
    if (!(normal > 0) || !(mu > 0)) return;
    const total = Math.hypot(f32[f], f32[f + 1], f32[f + 2]);
    const tangential = Math.sqrt(Math.max(total * total - normal * normal, 0));
    const sign = this.side(picture, at);
    const height = 0.1 * this.unit;
    goodToBad(tangential / (mu * normal), colour);
    this.cones.putAlong(
      f32[p],
      f32[p + 1],
      f32[p + 2],
      sign * f32[n],
      sign * f32[n + 1],
      sign * f32[n + 2],
      height * Math.min(mu, MAX_FRICTION),
      height,
      colour,
    );
  }

  updateLabels(picture, options, camera) {
    this.labels.begin();
    const n = options.residuals ? Math.min(picture.ncontact, MAX_LABELS) : 0;
    for (let i = 0; i < n; ++i) {
      const at = picture.contact(i);
      const p = at + CONTACT.POINT;
      point.set(picture.f32[p], picture.f32[p + 1], picture.f32[p + 2]);
      this.labels.put(point, camera, picture.f32[at + CONTACT.RESIDUAL].toExponential(0));
    }
    this.labels.end();
  }

  dispose() {
    discard(this.group);
  }
}
