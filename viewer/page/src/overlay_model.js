/* overlay_model.js - parts of the model: joint axes, and for each link the box that has its mass and
 * inertia. */
import {
  BoxGeometry,
  Color,
  CylinderGeometry,
  Group,
  Matrix4,
  MeshBasicMaterial,
  MeshLambertMaterial,
  Quaternion,
  Vector3,
} from "three";
import { quaternion } from "./bodies.js";
import { AXIS } from "./colours.js";
import { Instances, discard, overlay } from "./instances.js";

const matrix = new Matrix4();
const turn = new Quaternion();
const from = new Vector3();
const along = new Vector3();

export class ModelOverlay {
  constructor(scene, description, unit) {
    this.unit = unit;
    this.group = new Group();
    scene.add(this.group);
    const stick = new CylinderGeometry(1, 1, 1, 10).rotateX(Math.PI / 2);
    this.axes = new Instances(this.group, stick, overlay(new MeshBasicMaterial(), 0.9), 5);
    const box = overlay(new MeshLambertMaterial(), 0.38);
    this.boxes = new Instances(this.group, new BoxGeometry(2, 2, 2), box, 3);
    this.joints = description.joints
      .filter((joint) => joint.link >= 0 && AXIS[joint.type])
      .map((joint) => ({
        link: joint.link,
        pos: new Vector3().fromArray(joint.pos),
        axis: new Vector3().fromArray(joint.axis).normalize(),
        colour: AXIS[joint.type],
      }));
    this.inertias = description.links.flatMap((link, i) =>
      link.box && link.mass > 0 ? [this.inertia(link, i)] : [],
    );
  }

  inertia(link, i) {
    const local = new Matrix4();
    const { quat, half } = link.box;
    local.compose(
      from.fromArray(link.com),
      quaternion(quat, turn).normalize(),
      along.fromArray(half),
    );
    return { link: i, local, colour: new Color().setHSL(0.72 + 0.1 * (i % 3), 0.5, 0.55) };
  }

  update(poses, options) {
    this.axes.begin();
    this.boxes.begin();
    if (options.axes) {
      for (const joint of this.joints) {
        from.copy(joint.pos).applyMatrix4(poses[joint.link]);
        along.copy(joint.axis).transformDirection(poses[joint.link]);
        this.axes.putAlong(
          from.x,
          from.y,
          from.z,
          along.x,
          along.y,
          along.z,
          0.004 * this.unit,
          0.11 * this.unit,
          joint.colour,
        );
      }
    }
    if (options.inertia) {
      for (const { link, local, colour } of this.inertias) {
        this.boxes.put(matrix.multiplyMatrices(poses[link], local), colour);
      }
    }
    this.axes.end();
    this.boxes.end();
  }

  dispose() {
    discard(this.group);
  }
}
