/* ground.js - planes, with a grid of metres and decimetres that is drawn by the shader and stays
 * thin at any distance. */
import { Color, Mesh, MeshLambertMaterial, PlaneGeometry } from "three";
import { BACKGROUND } from "./colours.js";

const SIZE = 400; /* m; fog hides the edge */

const GRID = `
  vec2 metres = vGround;
  vec2 widths = fwidth(metres);
  vec2 one = abs(fract(metres - 0.5) - 0.5) / widths;
  vec2 ten = abs(fract(metres * 10.0 - 0.5) - 0.5) / (widths * 10.0);
  float major = 1.0 - min(min(one.x, one.y), 1.0);
  float minor = 1.0 - min(min(ten.x, ten.y), 1.0);
  float blur = max(widths.x, widths.y);
  major *= 1.0 - smoothstep(0.1, 0.5, blur);
  minor *= 1.0 - smoothstep(0.008, 0.035, blur);
  diffuseColor.rgb = mix(diffuseColor.rgb, vec3(0.52, 0.58, 0.66), 0.55 * major + 0.2 * minor * (1.0 - major));
`;

function drawGrid(shader) {
  shader.vertexShader = shader.vertexShader
    .replace("#include <common>", "#include <common>\nvarying vec2 vGround;")
    .replace("#include <begin_vertex>", "#include <begin_vertex>\nvGround = position.xy;");
  shader.fragmentShader = shader.fragmentShader
    .replace("#include <common>", "#include <common>\nvarying vec2 vGround;")
    .replace("#include <color_fragment>", `#include <color_fragment>\n${GRID}`);
}

export function makeGround(shape) {
  const geometry = new PlaneGeometry(SIZE, SIZE);
  const material = new MeshLambertMaterial({ color: new Color(BACKGROUND) });
  material.onBeforeCompile = drawGrid;
  const mesh = new Mesh(geometry, material);
  mesh.position.fromArray(shape.pos);
  mesh.quaternion.set(shape.quat[1], shape.quat[2], shape.quat[3], shape.quat[0]).normalize();
  mesh.receiveShadow = true;
  return mesh;
}
