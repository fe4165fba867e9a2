/* bodies.js - the shapes of a scene, moved by the links of a picture.
 *
 * All shapes of one geometry are one draw call, so that hundreds of balls cost as little as one. */
import {
  Box3,
  BoxGeometry,
  CapsuleGeometry,
  Color,
  CylinderGeometry,
  Group,
  Matrix4,
  MeshPhongMaterial,
  Quaternion,
  SphereGeometry,
  Vector3,
} from "three";
import { paletteColour } from "./colours.js";
import { makeGround } from "./ground.js";
import { Instances, discard } from "./instances.js";
import { meshGeometry } from "./mesh_geometry.js";

const ONE = new Vector3(1, 1, 1);
/* faces of neighbours often lie in one plane and would flicker; a few tenths of a millimetre help */
const APART = 3e-4;
const position = new Vector3();
const turn = new Quaternion();
const scratch = new Matrix4();
const box = new Box3();

export function quaternion(q, out) {
  return out.set(q[1], q[2], q[3], q[0]);
}

/* Along z, as tabi's are; three's lie along y. */
function upright(geometry) {
  return geometry.rotateX(Math.PI / 2);
}

/* Of each type: what tells geometries apart, the geometry, and its scale for a size. */
const TYPES = {
  box: {
    key: () => "",
    make: () => new BoxGeometry(2, 2, 2),
    scale: (s, v) => v.set(s[0], s[1], s[2]),
  },
  sphere: {
    key: () => "",
    make: () => new SphereGeometry(1, 32, 20),
    scale: (s, v) => v.setScalar(s[0]),
  },
  ellipsoid: {
    key: () => "",
    make: () => new SphereGeometry(1, 32, 20),
    scale: (s, v) => v.set(s[0], s[1], s[2]),
  },
  cylinder: {
    key: () => "",
    make: () => upright(new CylinderGeometry(1, 1, 2, 36)),
    scale: (s, v) => v.set(s[0], s[0], s[1]),
  },
  capsule: {
    key: (shape) => shape.size.slice(0, 2).join(),
    make: (shape) => upright(new CapsuleGeometry(shape.size[0], 2 * shape.size[1], 10, 28)),
    scale: (s, v) => v.copy(ONE),
  },
  mesh: {
    key: (shape) => String(shape.mesh),
    make: (shape, description) => meshGeometry(description.meshes[shape.mesh]),
    scale: (s, v) => v.copy(ONE),
  },
};

/* nearer: -1 or 1, of what is drawn again, where it is at the same place as the first. */
function makeMaterial(opacity, nearer) {
  return new MeshPhongMaterial({
    polygonOffset: nearer !== 0,
    polygonOffsetFactor: -nearer,
    polygonOffsetUnits: -4 * nearer,
    color: 0xffffff,
    shininess: 24,
    specular: 0x1c1c1c,
    transparent: opacity < 1,
    opacity,
    depthWrite: opacity >= 1,
  });
}

function shapeColour(shape, description) {
  const out = new Color();
  if (shape.colour) return out.setRGB(shape.colour[0], shape.colour[1], shape.colour[2], "srgb");
  return paletteColour(shape.link, description.links[shape.link]?.robot ?? -1, out);
}

/* Shapes to look at.  Links that have mass but no shape show the box of their inertia; a robot that
 * is nothing but a mechanism would be invisible otherwise. */
export function seenShapes(description) {
  const seen = description.shapes.filter((shape) => shape.visible !== false);
  const shaped = new Set(description.shapes.map((shape) => shape.link));
  const standIns = description.links.flatMap((link, i) => {
    if (shaped.has(i) || !link.box || !(link.mass > 0)) return [];
    return [
      {
        link: i,
        type: "box",
        pos: link.com,
        quat: link.box.quat,
        size: link.box.half,
        colour: null,
      },
    ];
  });
  return [...seen, ...standIns];
}

/* Links that nothing moves: loose bodies without a joint. */
function fixedLinks(description) {
  const moved = new Set(description.joints.map((joint) => joint.link));
  return new Set(
    description.links.flatMap((link, i) => (link.robot < 0 && !moved.has(i) ? [i] : [])),
  );
}

export class Bodies {
  /* style: null, or {colour, opacity, nearer} of all that moves when it is drawn again, as a ghost. */
  constructor(scene, description, shapes, style = null) {
    this.description = description;
    this.style = style;
    this.group = new Group();
    this.kinds = new Map();
    this.fixed = fixedLinks(description);
    this.added = 0;
    this.poses = description.links.map(() => new Matrix4());
    for (const shape of shapes) this.add(shape);
    for (const kind of this.kinds.values()) this.paint(kind);
    scene.add(this.group);
  }

  moves(link) {
    return link >= 0 && !this.fixed.has(link);
  }

  add(shape) {
    if (this.style && !this.moves(shape.link)) return;
    if (shape.type === "plane") {
      this.group.add(makeGround(shape));
      return;
    }
    const type = TYPES[shape.type];
    if (!type) return;
    const local = new Matrix4();
    quaternion(shape.quat, turn).normalize();
    const size = type
      .scale(shape.size ?? [], new Vector3())
      .multiplyScalar(1 - APART * (this.added++ % 8));
    local.compose(position.fromArray(shape.pos), turn, size);
    const colour =
      this.style?.colour ??
      shapeColour(this.moves(shape.link) ? shape : { ...shape, link: -1 }, this.description);
    this.kind(shape, type).items.push({ link: shape.link, local, colour });
  }

  kind(shape, type) {
    const opacity = this.style?.opacity ?? shape.colour?.[3] ?? 1;
    const key = `${shape.type} ${type.key(shape)} ${opacity}`;
    if (!this.kinds.has(key)) {
      const instances = new Instances(
        this.group,
        type.make(shape, this.description),
        makeMaterial(opacity, this.style?.nearer ?? 0),
        this.style ? 2 : 0,
      );
      this.kinds.set(key, { instances, opacity, items: [] });
    }
    return this.kinds.get(key);
  }

  /* Colours never change; only places do. */
  paint({ instances, items, opacity }) {
    instances.begin();
    for (const item of items) instances.put(item.local, item.colour);
    instances.end();
    instances.mesh.castShadow = opacity === 1;
    instances.mesh.receiveShadow = !this.style;
    instances.mesh.userData.items = items;
  }

  /* Moves everything to a picture. */
  update(picture) {
    const { f32 } = picture;
    const n = Math.min(this.poses.length, picture.nlink);
    for (let i = 0; i < n; ++i) {
      const at = picture.link(i);
      turn.set(f32[at + 4], f32[at + 5], f32[at + 6], f32[at + 3]);
      this.poses[i].compose(position.set(f32[at], f32[at + 1], f32[at + 2]), turn, ONE);
    }
    for (const { instances, items } of this.kinds.values()) this.place(instances, items);
  }

  place({ mesh }, items) {
    items.forEach((item, i) => {
      scratch.copy(item.local);
      if (item.link >= 0) scratch.premultiply(this.poses[item.link]);
      mesh.setMatrixAt(i, scratch);
    });
    mesh.instanceMatrix.needsUpdate = true;
    mesh.boundingSphere = null; /* it was of another picture */
  }

  /* The moving link under a ray, as {link, point}; null if there is none. */
  pick(raycaster) {
    const meshes = [...this.kinds.values()].map((kind) => kind.instances.mesh);
    const hit = raycaster.intersectObjects(meshes, false)[0];
    if (!hit) return null;
    const link = hit.object.userData.items[hit.instanceId].link;
    return this.moves(link) ? { link, point: hit.point } : null;
  }

  /* The box around all that moves, or around everything if nothing does. */
  bounds(out) {
    out.makeEmpty();
    for (const onlyMoving of [true, false]) {
      for (const { instances, items } of this.kinds.values()) {
        instances.geometry.boundingBox ?? instances.geometry.computeBoundingBox();
        items.forEach((item, i) => {
          if (onlyMoving && !this.moves(item.link)) return;
          instances.mesh.getMatrixAt(i, scratch);
          out.union(box.copy(instances.geometry.boundingBox).applyMatrix4(scratch));
        });
      }
      if (!out.isEmpty()) break;
    }
    return out;
  }

  /* Bodies that can be looked through, as when their insides are drawn. */
  setSeeThrough(on) {
    for (const { instances, opacity } of this.kinds.values()) {
      const { material } = instances;
      material.opacity = on ? Math.min(opacity, 0.35) : opacity;
      material.transparent = material.opacity < 1;
      material.depthWrite = !material.transparent;
      material.needsUpdate = true;
    }
  }

  dispose() {
    discard(this.group);
  }
}
