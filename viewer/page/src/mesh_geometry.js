/* mesh_geometry.js - meshes of a scene description as geometries with normals.
 *
 * Files of robots have no normals that would survive simplification.  At every corner of a triangle
 * those neighbours are averaged, by their area, that meet it in less than CREASE: round parts look
 * round, and edges stay edges. */
import { BufferAttribute, BufferGeometry } from "three";

const CREASE = Math.cos((38 * Math.PI) / 180);
const MAX_SHORT = 65536; /* indices of fewer vertices take two bytes */

export function decodeBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text).buffer;
  const binary = atob(text.trim());
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; ++i) bytes[i] = binary.charCodeAt(i);
  return bytes.buffer;
}

/* {vertices: Float32Array, triangles: Uint16Array or Uint32Array} */
export function decodeMesh(mesh) {
  const vertices = new Float32Array(decodeBase64(mesh.vertices));
  const Index = vertices.length / 3 > MAX_SHORT ? Uint32Array : Uint16Array;
  return { vertices, triangles: new Index(decodeBase64(mesh.triangles)) };
}

/* The corners of all triangles one after another. */
function unfold(vertices, triangles) {
  const positions = new Float32Array(3 * triangles.length);
  for (let i = 0; i < triangles.length; ++i) {
    const from = 3 * triangles[i];
    positions[3 * i] = vertices[from];
    positions[3 * i + 1] = vertices[from + 1];
    positions[3 * i + 2] = vertices[from + 2];
  }
  return positions;
}

/* Of each triangle: its unit normal, and twice its area. */
function faceNormals(p) {
  const count = p.length / 9;
  const normals = new Float32Array(3 * count);
  const areas = new Float32Array(count);
  for (let i = 0; i < count; ++i) {
    const at = 9 * i;
    const [ux, uy, uz] = [p[at + 3] - p[at], p[at + 4] - p[at + 1], p[at + 5] - p[at + 2]];
    const [vx, vy, vz] = [p[at + 6] - p[at], p[at + 7] - p[at + 1], p[at + 8] - p[at + 2]];
    const [x, y, z] = [uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx];
    const area = Math.hypot(x, y, z);
    areas[i] = area;
    normals[3 * i] = x / (area || 1);
    normals[3 * i + 1] = y / (area || 1);
    normals[3 * i + 2] = z / (area || 1);
  }
  return { normals, areas };
}

/* The triangles around each vertex: those of vertex k are faces[first[k]] to faces[first[k + 1]]. */
function facesAround(triangles, nvertex) {
  const first = new Uint32Array(nvertex + 1);
  for (const vertex of triangles) ++first[vertex + 1];
  for (let i = 0; i < nvertex; ++i) first[i + 1] += first[i];
  const next = first.slice();
  const faces = new Uint32Array(triangles.length);
  for (let i = 0; i < triangles.length; ++i) faces[next[triangles[i]]++] = (i / 3) | 0;
  return { first, faces };
}

export function creasedNormals(positions, triangles, nvertex) {
  const { normals, areas } = faceNormals(positions);
  const { first, faces } = facesAround(triangles, nvertex);
  const out = new Float32Array(positions.length);
  for (let i = 0; i < triangles.length; ++i) {
    const own = 3 * ((i / 3) | 0);
    const [nx, ny, nz] = [normals[own], normals[own + 1], normals[own + 2]];
    let [x, y, z] = [0, 0, 0];
    for (let k = first[triangles[i]]; k < first[triangles[i] + 1]; ++k) {
      const at = 3 * faces[k];
      if (nx * normals[at] + ny * normals[at + 1] + nz * normals[at + 2] < CREASE) continue;
      const area = areas[faces[k]];
      x += area * normals[at];
      y += area * normals[at + 1];
      z += area * normals[at + 2];
    }
    const length = Math.hypot(x, y, z) || 1;
    out[3 * i] = x / length;
    out[3 * i + 1] = y / length;
    out[3 * i + 2] = z / length;
  }
  return out;
}

const made = new WeakMap(); /* one geometry for each mesh, however often it is drawn */

export function meshGeometry(mesh) {
  if (made.has(mesh)) return made.get(mesh);
  const { vertices, triangles } = decodeMesh(mesh);
  const positions = unfold(vertices, triangles);
  const normals = creasedNormals(positions, triangles, vertices.length / 3);
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(positions, 3));
  geometry.setAttribute("normal", new BufferAttribute(normals, 3));
  made.set(mesh, geometry);
  return geometry;
}
