/* instances.js - many copies of one geometry, whose number changes from picture to picture. */
import { Color, DynamicDrawUsage, InstancedMesh, Matrix4, Quaternion, Vector3 } from "three";

const WHITE = new Color(1, 1, 1);
const UP = new Vector3(0, 0, 1);
const direction = new Vector3();
const position = new Vector3();
const scale = new Vector3();
const turn = new Quaternion();
const matrix = new Matrix4();

/* Copies in one draw call.  Between begin() and end() they are put one by one. */
export class Instances {
  constructor(parent, geometry, material, order = 0) {
    this.parent = parent;
    this.geometry = geometry;
    this.material = material;
    this.order = order;
    this.count = 0;
    this.mesh = null;
    this.grow(16);
  }

  grow(capacity) {
    const old = this.mesh;
    const mesh = new InstancedMesh(this.geometry, this.material, capacity);
    mesh.instanceMatrix.setUsage(DynamicDrawUsage);
    mesh.setColorAt(0, WHITE);
    mesh.instanceColor.setUsage(DynamicDrawUsage);
    mesh.frustumCulled = false;
    mesh.renderOrder = this.order;
    if (old) {
      mesh.instanceMatrix.array.set(old.instanceMatrix.array);
      mesh.instanceColor.array.set(old.instanceColor.array);
      mesh.visible = old.visible;
      this.parent.remove(old);
      old.dispose();
    }
    mesh.count = this.count;
    this.capacity = capacity;
    this.mesh = mesh;
    this.parent.add(mesh);
  }

  begin() {
    this.count = 0;
  }

  put(transform, colour = WHITE) {
    if (this.count === this.capacity) this.grow(2 * this.capacity);
    this.mesh.setMatrixAt(this.count, transform);
    this.mesh.setColorAt(this.count, colour);
    ++this.count;
  }

  /* A copy at (x, y, z) whose z axis points along (dx, dy, dz), scaled by (across, across, along). */
  putAlong(x, y, z, dx, dy, dz, across, along, colour) {
    direction.set(dx, dy, dz).normalize();
    turn.setFromUnitVectors(UP, direction);
    matrix.compose(position.set(x, y, z), turn, scale.set(across, across, along));
    this.put(matrix, colour);
  }

  putAt(x, y, z, size, colour) {
    matrix.makeScale(size, size, size).setPosition(x, y, z);
    this.put(matrix, colour);
  }

  end() {
    this.mesh.count = this.count;
    this.mesh.visible = this.count > 0;
    this.mesh.instanceMatrix.needsUpdate = true;
    this.mesh.instanceColor.needsUpdate = true;
  }
}

/* Arrows of any length with heads that keep their shape: shafts and heads. */
export class Arrows {
  constructor(parent, shaft, head, material, order) {
    this.shafts = new Instances(parent, shaft, material, order);
    this.heads = new Instances(parent, head, material.clone(), order);
  }

  get count() {
    return this.heads.count;
  }

  begin() {
    this.shafts.begin();
    this.heads.begin();
  }

  /* From (x, y, z) by length along a unit vector. */
  put(x, y, z, dx, dy, dz, length, radius, colour) {
    const head = Math.min(5 * radius, 0.6 * length);
    const shaft = length - head;
    this.shafts.putAlong(x, y, z, dx, dy, dz, radius, shaft, colour);
    this.heads.putAlong(
      x + dx * shaft,
      y + dy * shaft,
      z + dz * shaft,
      dx,
      dy,
      dz,
      2.4 * radius,
      head,
      colour,
    );
  }

  end() {
    this.shafts.end();
    this.heads.end();
  }
}

/* A material that is seen through bodies, for contacts are under feet and joints inside of links.
 * Few kinds of material are used, since each of them is a program that has to be compiled. */
export function overlay(material, opacity = 1) {
  material.transparent = true;
  material.opacity = opacity;
  material.depthTest = false;
  material.depthWrite = false;
  return material;
}

/* Takes a group off the scene and frees what it holds on the graphics card. */
export function discard(group) {
  group.traverse((object) => {
    object.geometry?.dispose();
    object.material?.dispose();
    object.dispose?.();
  });
  group.removeFromParent();
}
