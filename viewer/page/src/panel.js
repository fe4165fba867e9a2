/* panel.js - what is drawn, and what a live world can be told, as a panel of controls.
 *
 * For tests and scripts: each control's element has the id "option-NAME", NAME as in `options`, or
 * "set-contact", "set-friction", "set-timestep". */
import GUI from "lil-gui";
import { SCALINGS } from "./scale.js";

export function defaultOptions({ force, sun }) {
  return {
    contacts: true,
    forces: true,
    scaling: "linear",
    forceSize: 1,
    threshold: round(0.002 * force),
    cones: false,
    residuals: false,
    com: true,
    zmp: true,
    polygon: true,
    axes: false,
    inertia: false,
    seeThrough: false,
    collision: false,
    trails: false,
    ghost: true,
    difference: false,
    follow: true,
    shadows: sun.castShadow,
  };
}

const WIDTH = 216;
const NARROW = 560; /* pixels of the scene, too few to share with the panel */

function round(value) {
  return Number(value.toPrecision(2));
}

export class Panel {
  /* actions: {changed(name), set(path, value), resized(), fit(), screenshot(), video()} */
  constructor(element, options, actions, runs, force) {
    this.gui = new GUI({ container: element, title: "Show", width: WIDTH });
    this.options = options;
    this.actions = actions;
    this.controls = {};
    if (runs[0].description.live) this.addWorld(runs[0].description);
    this.addContacts(force);
    this.addBodies(runs);
    this.addCamera();
    if (element.parentElement.clientWidth < NARROW) this.gui.close();
    this.gui.onOpenClose((gui) => gui === this.gui && actions.resized());
  }

  /* Pixels of the scene that it hides from top to bottom, more or less. */
  get covers() {
    return this.gui._closed ? 0 : WIDTH;
  }

  toggle() {
    this.gui.open(this.gui._closed);
  }

  option(folder, name, label, ...range) {
    const control = folder.add(this.options, name, ...range).name(label);
    control.domElement.id = `option-${name}`;
    control.onChange(() => this.actions.changed(name));
    this.controls[name] = control;
    return control;
  }

  addContacts(force) {
    const folder = this.gui.addFolder("Contact");
    this.option(folder, "contacts", "contact points");
    this.option(folder, "forces", "forces");
    this.option(folder, "scaling", "arrow scaling", Object.keys(SCALINGS));
    this.option(folder, "forceSize", "arrow size", 0.1, 4, 0.1);
    this.option(folder, "threshold", "min force [N]", 0, round(0.2 * force), round(0.001 * force));
    this.option(folder, "cones", "friction cones");
    this.option(folder, "residuals", "residuals");
  }

  addBodies(runs) {
    const balance = this.gui.addFolder("Balance");
    this.option(balance, "com", "CoM").domElement.title = "centre of mass";
    this.option(balance, "zmp", "ZMP").domElement.title = "zero-moment point";
    this.option(balance, "polygon", "support polygon");
    this.option(balance, "trails", "foot trails");
    const model = this.gui.addFolder("Model");
    this.option(model, "axes", "joint axes");
    this.option(model, "inertia", "inertia boxes");
    this.option(model, "collision", "collision shapes");
    this.option(model, "seeThrough", "transparent bodies");
    if (runs.length < 2) return;
    this.option(model, "ghost", "ghost").domElement.title = runs[1].name;
    this.option(model, "difference", "plot differences");
  }

  addCamera() {
    const folder = this.gui.addFolder("Camera");
    this.option(folder, "follow", "follow robot");
    this.option(folder, "shadows", "shadows");
    for (const [name, label] of [
      ["fit", "fit (F)"],
      ["screenshot", "screenshot (S)"],
      ["video", "record video (V)"],
    ]) {
      const control = folder.add(this.actions, name).name(label);
      control.domElement.id = `action-${name}`;
      this.controls[name] = control;
    }
    folder.close();
  }

  /* Numbers are sent when they are entered, not while they are typed. */
  addWorld({ settings }) {
    const folder = this.gui.addFolder("World");
    this.world = {
      contact: settings.contact,
      friction: settings.friction,
      timestep: settings.timestep,
    };
    const send = (path) => (value) => this.actions.set(path, value);
    const contact = folder
      .add(this.world, "contact", settings.contacts)
      .onChange(send("contact.model"));
    const friction = folder
      .add(this.world, "friction")
      .min(0)
      .onFinishChange(send("contact.friction"));
    const timestep = folder
      .add(this.world, "timestep")
      .min(1e-6)
      .name("timestep [s]")
      .onFinishChange(send("timestep"));
    contact.domElement.id = "set-contact";
    friction.domElement.id = "set-friction";
    timestep.domElement.id = "set-timestep";
    this.worldControls = [contact, friction, timestep];
  }

  /* The world's settings as they are now: a refused one goes back to what it was.  A number that is
   * being typed stays. */
  setWorld(settings) {
    if (!this.world) return;
    for (const control of this.worldControls) {
      if (control.domElement.querySelector("input:focus")) continue;
      this.world[control.property] = settings[control.property];
      control.updateDisplay();
    }
  }

  refresh(name) {
    this.controls[name]?.updateDisplay();
  }

  destroy() {
    this.gui.destroy();
  }
}
