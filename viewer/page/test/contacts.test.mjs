/* contacts.test.mjs - forces and friction cones are drawn on what moves, whichever of the two bodies
 * a contact names first. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Matrix4, Scene, Vector3 } from "three";
import { CONTACT } from "../src/replay.js";
import { ContactOverlay } from "../src/overlay_contacts.js";

const OPTIONS = { forces: true, cones: true, scaling: "linear", forceSize: 1, threshold: 0 };
const labels = { begin() {}, put() {}, end() {} };

/* Of a box on a floor that pushes it with 5 N: up is +1 where the floor comes first. */
function contact(a, b, up) {
  const words = new ArrayBuffer(64);
  const [f32, i32] = [new Float32Array(words), new Int32Array(words)];
  i32.set([a, b, 1]);
  f32[CONTACT.NORMAL + 2] = up;
  f32[CONTACT.FORCE + 2] = 5 * up;
  f32[CONTACT.FRICTION] = 0.5;
  return { f32, i32, ncontact: 1, contact: () => 0 };
}

/* The way a copy points, as long as it is. */
function along({ mesh }) {
  const matrix = new Matrix4();
  mesh.getMatrixAt(0, matrix);
  return new Vector3().setFromMatrixColumn(matrix, 2).z;
}

test("forces and cones point to what moves", () => {
  const box = 3;
  const floors = [-1, 0, 7];
  for (const floor of floors) {
    const overlay = new ContactOverlay(new Scene(), {
      unit: 1,
      force: 10,
      labels,
      moves: (link) => link === box,
    });
    for (const picture of [contact(floor, box, 1), contact(box, floor, -1)]) {
      overlay.update(picture, OPTIONS, null);
      assert.equal(overlay.arrows.count, 1);
      assert.ok(along(overlay.cones) > 0);
      const length = along(overlay.arrows.shafts) + along(overlay.arrows.heads);
      assert.ok(Math.abs(length - 0.5) < 1e-6);
    }
  }
});
