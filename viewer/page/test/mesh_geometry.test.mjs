/* mesh_geometry.test.mjs - meshes are read from base64, and their normals are smooth where they are
 * round, and sharp at edges. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeMesh, meshGeometry } from "../src/mesh_geometry.js";
import { base64 } from "./fixture.mjs";

const CUBE = [0, 4, 6, 2, 1, 3, 7, 5, 0, 1, 5, 4, 2, 6, 7, 3, 0, 2, 3, 1, 4, 5, 7, 6];

function mesh(vertices, triangles, Index = Uint16Array) {
  return {
    vertices: base64(new Float32Array(vertices)),
    triangles: base64(new Index(triangles)),
  };
}

function cube() {
  const vertices = Array.from({ length: 8 }, (_, i) => [i & 1, (i >> 1) & 1, i >> 2]).flat();
  const triangles = [];
  for (let i = 0; i < CUBE.length; i += 4) {
    const [a, b, c, d] = CUBE.slice(i, i + 4);
    triangles.push(a, b, c, a, c, d);
  }
  return mesh(vertices, triangles);
}

function ball(n) {
  const vertices = [];
  const triangles = [];
  for (let i = 0; i <= n; ++i) {
    for (let k = 0; k < 2 * n; ++k) {
      const [a, b] = [(Math.PI * (i + 0.5)) / (n + 1), (Math.PI * k) / n];
      vertices.push(Math.sin(a) * Math.cos(b), Math.sin(a) * Math.sin(b), Math.cos(a));
      if (i === n) continue;
      const [p, q] = [2 * n * i + k, 2 * n * i + ((k + 1) % (2 * n))];
      triangles.push(p, p + 2 * n, q, q, p + 2 * n, q + 2 * n);
    }
  }
  return mesh(vertices, triangles);
}

function dots(geometry, direction) {
  const { array: p } = geometry.getAttribute("position");
  const { array: n } = geometry.getAttribute("normal");
  return Array.from({ length: p.length / 3 }, (_, i) => {
    const [x, y, z] = direction(p.slice(3 * i, 3 * i + 3), i);
    return x * n[3 * i] + y * n[3 * i + 1] + z * n[3 * i + 2];
  });
}

test("indices have two bytes, or four where there are many vertices", () => {
  assert.deepEqual([...decodeMesh(cube()).triangles.slice(0, 3)], [0, 4, 6]);
  const many = new Float32Array(3 * 65537);
  const big = decodeMesh(mesh(many, [0, 1, 65536], Uint32Array));
  assert.deepEqual([...big.triangles], [0, 1, 65536]);
  assert.equal(big.vertices.length, many.length);
});

test("edges stay edges", () => {
  const geometry = meshGeometry(cube());
  const { array: p } = geometry.getAttribute("position");
  assert.equal(p.length, 12 * 9);
  const flat = (_, i) => {
    const at = 9 * Math.floor(i / 3);
    const axis = [0, 1, 2].find((k) => p[at + k] === p[at + 3 + k] && p[at + k] === p[at + 6 + k]);
    return [0, 1, 2].map((k) => (k === axis ? 2 * p[at + k] - 1 : 0));
  };
  for (const dot of dots(geometry, flat)) assert.ok(Math.abs(dot - 1) < 1e-6);
});

test("round parts look round", () => {
  for (const dot of dots(meshGeometry(ball(24)), (place) => place)) assert.ok(dot > 0.998);
});

test("a mesh is made once, and one without triangles is empty", () => {
  const one = cube();
  assert.equal(meshGeometry(one), meshGeometry(one));
  assert.equal(meshGeometry(mesh([], [])).getAttribute("position").count, 0);
});
