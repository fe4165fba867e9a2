/* overlay_trails.js - the paths of the feet up to the picture shown. */
import { Color, CylinderGeometry, Group, MeshBasicMaterial, Vector3 } from "three";
import { TRAILS } from "./colours.js";
import { Instances, discard } from "./instances.js";

const MIN_LENGTH = 0.004; /* units; a foot that rests adds nothing */
const MAX_SEGMENTS = 20000; /* segments; then the trail begins anew */

const here = new Vector3();

export class TrailOverlay {
  constructor(scene, description, unit) {
    this.unit = unit;
    this.group = new Group();
    scene.add(this.group);
    const stick = new CylinderGeometry(1, 1, 1, 5, 1, true)
      .rotateX(Math.PI / 2)
      .translate(0, 0, 0.5);
    this.segments = new Instances(this.group, stick, new MeshBasicMaterial());
    this.feet = description.robots
      .flatMap((robot) => robot.feet)
      .map((link, i) => ({
        link,
        local: new Vector3().fromArray(description.links[link].com),
        last: new Vector3(),
        colour: new Color(TRAILS[i % TRAILS.length]),
      }));
    this.restart(0);
  }

  /* Forgets what was drawn; the trail begins at a picture, counted from the first ever received. */
  restart(picture) {
    this.first = picture;
    this.done = picture;
    this.until = []; /* of each segment, the picture in which it ends */
    this.segments.begin();
  }

  extend(replay) {
    const total = replay.count + replay.forgotten;
    if (this.done > total || this.until.length > MAX_SEGMENTS)
      this.restart(Math.max(total - 1000, replay.forgotten));
    if (this.done < replay.forgotten) this.restart(replay.forgotten);
    for (; this.done < total; ++this.done) {
      for (const foot of this.feet) this.follow(foot, replay, this.done);
    }
  }

  follow(foot, replay, picture) {
    replay.linkPoint(picture - replay.forgotten, foot.link, foot.local, here);
    if (picture > this.first) {
      const length = here.distanceTo(foot.last);
      if (length < MIN_LENGTH * this.unit) return;
      const { x, y, z } = foot.last;
      this.segments.putAlong(
        x,
        y,
        z,
        here.x - x,
        here.y - y,
        here.z - z,
        0.003 * this.unit,
        length,
        foot.colour,
      );
      this.until.push(picture);
    }
    foot.last.copy(here);
  }

  update(replay, index, options) {
    this.group.visible = options.trails;
    if (!options.trails) return;
    const before = this.until.length;
    this.extend(replay);
    if (this.until.length !== before) this.segments.end();
    const now = index + replay.forgotten;
    let low = 0;
    for (let high = this.until.length; low < high;) {
      const middle = (low + high) >> 1;
      if (this.until[middle] <= now) low = middle + 1;
      else high = middle;
    }
    this.segments.mesh.count = low;
  }

  dispose() {
    discard(this.group);
  }
}
