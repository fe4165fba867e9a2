/* camera.js - where the picture is taken from: orbit by hand, follow the first robot, fit. */
import { PerspectiveCamera, Vector3 } from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { ROBOT } from "./replay.js";

const FROM = new Vector3(
  0.72,
  -1,
  0.36,
).normalize(); /* a robot that walks along x is seen from its right */
const SMOOTH = 0.15; /* s in which the camera closes in on what it follows */

const wanted = new Vector3();
const shift = new Vector3();
const size = new Vector3();

export class Camera {
  constructor(canvas, changed) {
    this.eye = new PerspectiveCamera(38, 1, 0.01, 500);
    this.eye.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.eye, canvas);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.12;
    this.controls.maxDistance = 200;
    this.controls.addEventListener("change", changed);
    this.followed = new Vector3();
    this.hasFollowed = false;
  }

  /* Shows a whole box with some room around it, from the present side or from the default one. */
  fit(bounds, room, fromDefault = false) {
    if (bounds.isEmpty()) return;
    const { target } = this.controls;
    const side = fromDefault ? FROM.clone() : this.eye.position.clone().sub(target).normalize();
    bounds.getCenter(target);
    const radius = Math.max(0.5 * bounds.getSize(size).length(), 0.05);
    const narrow = Math.min(1, this.free);
    const distance = (room * radius) / Math.sin((this.eye.fov * Math.PI) / 360) / narrow;
    this.eye.position.copy(target).addScaledVector(side, distance);
    this.hasFollowed = false;
    this.controls.update();
  }

  /* Moves along with the first robot: over the ground at once with what jumps, else smoothly. */
  follow(picture, seconds, jump) {
    if (!picture.nrobot) return;
    const at = picture.robot(0) + ROBOT.COM;
    wanted.set(picture.f32[at], picture.f32[at + 1], 0);
    if (!Number.isFinite(wanted.x + wanted.y)) return;
    if (!this.hasFollowed) this.followed.copy(wanted);
    this.hasFollowed = true;
    const part = jump ? 1 : 1 - Math.exp(-seconds / SMOOTH);
    shift.copy(wanted).sub(this.followed).multiplyScalar(part);
    if (shift.lengthSq() < 1e-14) return;
    this.followed.add(shift);
    this.eye.position.add(shift);
    this.controls.target.add(shift);
  }

  /* Near and far as the distance of what is looked at needs them: depth has few digits. */
  focus() {
    const distance = this.eye.position.distanceTo(this.controls.target);
    this.eye.near = distance / 60;
    this.eye.far = 60 * distance + 300;
    this.eye.updateProjectionMatrix();
    return distance;
  }

  /* covered: pixels at the right that a panel hides; the middle is that of the rest. */
  resize(width, height, covered) {
    this.eye.aspect = width / height;
    this.free = (width - covered) / height;
    this.eye.setViewOffset(width, height, covered / 2, 0, width, height);
  }
}
