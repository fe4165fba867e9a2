/* push.js - dragging a body of a live world pulls it with a damped spring.
 *
 * The spring goes from the point that was taken to the pointer, in the plane through that point
 * which faces the camera.  The world computes the force. */
import {
  CylinderGeometry,
  Group,
  MeshBasicMaterial,
  Plane,
  Raycaster,
  SphereGeometry,
  Vector2,
  Vector3,
} from "three";
import { BAND } from "./colours.js";
import { Instances } from "./instances.js";

const BETWEEN_MS = 16; /* of messages */

export class Push {
  constructor(sceneView, send) {
    this.sceneView = sceneView;
    this.send = send;
    this.raycaster = new Raycaster();
    this.pointer = new Vector2();
    this.plane = new Plane();
    this.point = new Vector3(); /* in the link's frame */
    this.target = new Vector3();
    this.link = -1;
    this.sent = 0;
    const group = new Group();
    sceneView.scene.add(group);
    const material = () =>
      new MeshBasicMaterial({ transparent: true, opacity: 0.9, depthTest: false });
    this.band = new Instances(
      group,
      new CylinderGeometry(1, 1, 1, 8).rotateX(Math.PI / 2).translate(0, 0, 0.5),
      material(),
      9,
    );
    this.ends = new Instances(group, new SphereGeometry(1, 14, 10), material(), 9);
    this.listen(sceneView.canvas);
  }

  get active() {
    return this.link >= 0;
  }

  listen(canvas) {
    /* before the camera's own listener, which would orbit */
    canvas.addEventListener("pointerdown", (event) => this.take(event), { capture: true });
    window.addEventListener("pointermove", (event) => this.pull(event));
    for (const name of ["pointerup", "pointercancel", "blur"])
      window.addEventListener(name, () => this.release());
  }

  aim(event) {
    const box = this.sceneView.canvas.getBoundingClientRect();
    this.pointer.x = (2 * (event.clientX - box.left)) / box.width - 1;
    this.pointer.y = 1 - (2 * (event.clientY - box.top)) / box.height;
    this.raycaster.setFromCamera(this.pointer, this.sceneView.camera.eye);
  }

  take(event) {
    if (event.button !== 0 || !event.isPrimary) return;
    this.aim(event);
    const hit = this.sceneView.bodies.pick(this.raycaster);
    if (!hit) return;
    this.sceneView.camera.controls.enabled = false;
    this.link = hit.link;
    this.point.copy(hit.point).applyMatrix4(this.sceneView.bodies.poses[hit.link].clone().invert());
    this.target.copy(hit.point);
    const facing = this.sceneView.camera.eye.getWorldDirection(new Vector3());
    this.plane.setFromNormalAndCoplanarPoint(facing, hit.point);
  }

  pull(event) {
    if (!this.active) return;
    this.aim(event);
    this.raycaster.ray.intersectPlane(this.plane, this.target);
    this.gain = event.shiftKey ? (event.ctrlKey ? 16 : 4) : 1;
    this.sceneView.dirty = true;
    this.draw();
    if (event.timeStamp - this.sent < BETWEEN_MS) return;
    this.sent = event.timeStamp;
    this.send({
      do: "push",
      link: this.link,
      point: this.point.toArray(),
      target: this.target.toArray(),
      gain: this.gain,
    });
  }

  release() {
    if (!this.active) return;
    this.link = -1;
    this.sceneView.camera.controls.enabled = true;
    this.send({ do: "release" });
    this.draw();
    this.sceneView.dirty = true;
  }

  /* Anew with each picture, since the body moves. */
  draw() {
    this.band.begin();
    this.ends.begin();
    if (this.active) {
      const { unit, bodies } = this.sceneView;
      const from = this.point.clone().applyMatrix4(bodies.poses[this.link]);
      const stretch = this.target.clone().sub(from);
      const width = { 1: 0.0035, 4: 0.006, 16: 0.01 }[this.gain ?? 1] * unit;
      this.band.putAlong(
        from.x,
        from.y,
        from.z,
        stretch.x,
        stretch.y,
        stretch.z,
        width,
        Math.max(stretch.length(), 1e-6),
        BAND,
      );
      this.ends.putAt(from.x, from.y, from.z, 0.012 * unit, BAND);
      this.ends.putAt(this.target.x, this.target.y, this.target.z, 0.008 * unit, BAND);
    }
    this.band.end();
    this.ends.end();
  }
}
