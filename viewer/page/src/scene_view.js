/* scene_view.js - the three-dimensional view of a scene: renderer, light, fog; bodies and overlays. */
import {
  Box3,
  DirectionalLight,
  Fog,
  HemisphereLight,
  PCFShadowMap,
  Scene,
  Vector3,
  WebGLRenderer,
} from "three";
import { Bodies, seenShapes } from "./bodies.js";
import { Camera } from "./camera.js";
import { COLLISION, GHOST, BACKGROUND } from "./colours.js";
import { Labels } from "./labels.js";
import { BalanceOverlay } from "./overlay_balance.js";
import { ContactOverlay } from "./overlay_contacts.js";
import { ModelOverlay } from "./overlay_model.js";
import { TrailOverlay } from "./overlay_trails.js";
import { unitForce, unitLength } from "./scale.js";

const SUN = new Vector3(-0.35, -0.45, 0.82);

function makeRenderer(canvas) {
  try {
    return new WebGLRenderer({ canvas, antialias: true });
  } catch {
    throw new Error(
      "this browser has no WebGL 2; turn on hardware acceleration, or try another browser",
    );
  }
}

/* Whether there is no graphics card behind WebGL, so that every pixel costs. */
function isSoftware(renderer) {
  const gl = renderer.getContext();
  const name = gl.getExtension("WEBGL_debug_renderer_info");
  return /swiftshader|llvmpipe|software/i.test(
    name ? gl.getParameter(name.UNMASKED_RENDERER_WEBGL) : "",
  );
}

export class SceneView {
  constructor(canvas, labels) {
    this.canvas = canvas;
    this.renderer = makeRenderer(canvas);
    this.renderer.debug.checkShaderErrors = false; /* asking makes the first picture wait */
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFShadowMap;
    this.renderer.shadowMap.autoUpdate = false; /* not while only the camera turns */
    this.scene = new Scene();
    this.renderer.setClearColor(BACKGROUND);
    this.labels = new Labels(labels);
    this.dirty = true;
    this.camera = new Camera(canvas, () => (this.dirty = true));
    this.bounds = new Box3();
    this.addLight();
  }

  addLight() {
    this.scene.add(new HemisphereLight(0xffffff, 0xc9ced6, 2.1));
    const sun = new DirectionalLight(0xffffff, 1.9);
    sun.castShadow = true;
    const size = isSoftware(this.renderer) ? 1024 : 2048;
    sun.shadow.mapSize.set(size, size);
    sun.shadow.radius = 3;
    sun.shadow.intensity = 0.55;
    this.scene.add(sun, sun.target);
    this.sun = sun;
  }

  /* runs: [{description, replay}]; the second is the ghost. */
  enter(runs) {
    for (const part of [this.bodies, this.ghost, this.collision, ...(this.overlays ?? [])])
      part?.dispose();
    const [{ description, replay }, second] = runs;
    this.description = description;
    this.bodies = new Bodies(this.scene, description, seenShapes(description));
    this.collision = null; /* made when it is asked for */
    this.ghost = second
      ? new Bodies(this.scene, second.description, seenShapes(second.description), GHOST)
      : null;
    if (replay.count) this.bodies.update(replay.at(0));
    this.unit = unitLength(description, this.bodies.bounds(this.bounds));
    this.force = unitForce(description);
    this.contacts = new ContactOverlay(this.scene, {
      unit: this.unit,
      force: this.force,
      labels: this.labels,
      moves: (link) => this.bodies.moves(link),
    });
    this.balance = new BalanceOverlay(this.scene, this.unit);
    this.model = new ModelOverlay(this.scene, description, this.unit);
    this.trails = new TrailOverlay(this.scene, description, this.unit);
    this.overlays = [this.contacts, this.balance, this.model, this.trails];
    this.scene.fog = new Fog(BACKGROUND);
    this.setShadowSize(Math.max(2.2 * this.unit, 1));
    this.dirty = true;
  }

  setShadowSize(half) {
    const { camera } = this.sun.shadow;
    camera.left = camera.bottom = -half;
    camera.right = camera.top = half;
    camera.near = 0.1;
    camera.far = 12 * half;
    camera.updateProjectionMatrix();
    this.sun.shadow.bias = -0.0004;
    this.sun.shadow.normalBias = 0.006 * half;
    this.sunDistance = 5 * half;
  }

  /* Shows everything as it is in one picture; the ghost has a picture of its own. */
  show(picture, index, replay, ghostPicture, options) {
    this.bodies.update(picture);
    this.showCollision(picture, options.collision);
    if (this.ghost) {
      this.ghost.group.visible = options.ghost && Boolean(ghostPicture);
      if (this.ghost.group.visible) this.ghost.update(ghostPicture);
    }
    this.contacts.update(picture, options, this.camera.eye);
    this.balance.update(picture, options);
    this.model.update(this.bodies.poses, options);
    this.trails.update(replay, index, options);
    this.dirty = this.moved = true;
  }

  showCollision(picture, on) {
    if (on)
      this.collision ??= new Bodies(
        this.scene,
        this.description,
        this.description.shapes.filter((shape) => shape.collides),
        COLLISION,
      );
    if (this.collision) this.collision.group.visible = on;
    if (on) this.collision.update(picture);
  }

  /* Where the centre of a link is on the page: [x, y] in its pixels. */
  onScreen(link) {
    const place = new Vector3().fromArray(this.description.links[link].com);
    place.applyMatrix4(this.bodies.poses[link]).project(this.camera.eye);
    const box = this.canvas.getBoundingClientRect();
    return [
      box.left + (0.5 + 0.5 * place.x) * box.width,
      box.top + (0.5 - 0.5 * place.y) * box.height,
    ];
  }

  /* Fits the camera to the robots; without any, to where most bodies are in the second half of the
   * replay. */
  fit(replay, fromDefault) {
    const robots = this.description.robots.length > 0;
    const box = this.bodies.bounds(this.bounds);
    if (!robots && replay.count > 1) this.gather(replay, box);
    this.camera.fit(box, robots ? 1.18 : 1.3, fromDefault);
    this.dirty = true;
  }

  /* The box around most moving bodies; a few may fall far away. */
  gather(replay, box) {
    const places = [];
    for (const i of [replay.count >> 1, replay.count - 1]) {
      this.bodies.update(replay.at(i));
      this.bodies.poses.forEach((pose, link) => {
        if (this.bodies.moves(link)) places.push(new Vector3().setFromMatrixPosition(pose));
      });
    }
    if (!places.length) return;
    const centre = new Vector3();
    for (const place of places) centre.addScaledVector(place, 1 / places.length);
    const distances = places.map((place) => place.distanceTo(centre)).sort((a, b) => a - b);
    const radius =
      distances[Math.floor(0.85 * (distances.length - 1))] / Math.sqrt(3) + this.unit / 3;
    box.min.copy(centre).subScalar(radius);
    box.max.copy(centre).addScalar(radius);
  }

  /* covered: pixels at the right under the panel */
  resize(covered) {
    const { clientWidth: width, clientHeight: height } = this.canvas.parentElement;
    if (!width || !height) return;
    this.renderer.setSize(width, height, false);
    this.camera.resize(width, height, covered);
    this.labels.resize(width, height);
    this.dirty = true;
  }

  render() {
    const distance = this.camera.focus();
    this.scene.fog.near = 3 * distance;
    this.scene.fog.far = 16 * distance + 10;
    const { target } = this.camera.controls;
    if (!target.equals(this.sun.target.position)) this.moved = true;
    this.sun.position.copy(target).addScaledVector(SUN, this.sunDistance);
    this.sun.target.position.copy(target);
    this.renderer.shadowMap.needsUpdate = this.moved;
    this.renderer.render(this.scene, this.camera.eye);
    this.dirty = this.moved = false;
  }
}
