/* viewer.js - puts the parts of the page together and draws picture after picture. */
import { Video, save, screenshot } from "./capture.js";
import { Hud } from "./hud.js";
import { listKeys, listenKeys } from "./keys.js";
import { Live } from "./live.js";
import { complete, socketAddress } from "./load_runs.js";
import { Panel, defaultOptions } from "./panel.js";
import { PictureTimes } from "./picture_times.js";
import { Player, SPEEDS } from "./player.js";
import { Plots } from "./plots.js";
import { Push } from "./push.js";
import { FLAG } from "./replay.js";
import { SceneView } from "./scene_view.js";
import { Steer } from "./steer.js";

const LOST = "the connection to tabi is lost; start `tabi view` again";
const REFUSED = "tabi refused the connection; at most four pages may be connected: close another";

const $ = (id) => document.getElementById(id);

export class Viewer {
  constructor(runs, messages) {
    this.runs = runs;
    this.messages = messages;
    this.replay = runs[0].replay;
    this.stale = true; /* the picture has to be drawn anew */
    this.entered = false;
    this.pictureTimes = new PictureTimes();
    this.sceneView = new SceneView($("view"), $("labels"));
    this.sceneView.enter(runs);
    this.options = defaultOptions(this.sceneView);
    this.video = new Video(
      this.sceneView,
      (blob) => save(blob, this.fileName("webm")),
      (on) => this.showRecording(on),
    );
    const live = runs[0].description.live ? this.connect() : null;
    this.player = new Player(this.replay, live);
    this.player.onend = () => this.video.recording && this.video.stop();
    this.panel = new Panel($("panel"), this.options, this.actions(), runs, this.sceneView.force);
    this.hud = new Hud(runs, Boolean(live));
    this.plots = new Plots($("plot-list"), $("signal"), runs, (time) => this.seek(time));
    this.push = live ? new Push(this.sceneView, (command) => live.send(command)) : null;
    this.steer = live ? new Steer((command) => live.send(command)) : null;
    this.hud.legend(this.options);
    this.resize();
    this.wire();
  }

  /* ------------------------------------------------------------------------- a live world */

  connect() {
    return new Live(socketAddress(), {
      picture: (buffer) => this.receive(buffer),
      scene: (description, reset) => this.receiveDescription(complete(description), reset),
      error: (text) => this.refused(text),
      notice: (text) => this.messages.notice(text),
      line: (up) => this.setLine(up),
    });
  }

  receive(buffer) {
    const view = new DataView(buffer);
    /* a world that went back, as after a reset, has another past */
    const time = view.getFloat64(8, true);
    if (this.replay.count && time < this.replay.end) this.forget();
    /* and one that stands, as while it is pulled or changed, has one picture of its present */
    if (this.replay.count && time === this.replay.end) this.replay.drop();
    const { forgotten } = this.replay;
    this.replay.append(buffer);
    this.grown = true;
    this.player.received(Boolean(view.getUint32(44, true) & FLAG.PAUSED));
    if (this.replay.forgotten !== forgotten) this.stale = true;
  }

  receiveDescription(description, reset) {
    const before = this.runs[0].description;
    this.runs[0].description = description;
    if (reset) this.forget();
    const same =
      JSON.stringify([before.shapes, before.links]) ===
      JSON.stringify([description.shapes, description.links]);
    if (!same) {
      this.sceneView.enter(this.runs);
      this.changed("seeThrough");
    }
    this.panel.setWorld(description.settings);
    this.hud.name();
    this.stale = true;
  }

  forget() {
    this.replay.clear();
    this.sceneView.trails.restart(0);
    this.stale = true;
  }

  refused(text) {
    this.messages.error(text);
    this.panel.setWorld(this.runs[0].description.settings);
  }

  setLine(up) {
    if (!this.hud) return;
    this.hud.line = up;
    this.player.setLine(up);
    if (up) this.lost?.remove();
    else this.lost = this.messages.error(this.entered ? LOST : REFUSED);
    this.stale = true;
  }

  /* ------------------------------------------------------------------------------ controls */

  actions() {
    return {
      changed: (name) => this.changed(name),
      set: (path, value) => this.player.live.send({ do: "set", path, value }),
      fit: () => this.fit(),
      resized: () => this.resize(),
      screenshot: () => this.screenshot(),
      video: () => this.toggleVideo(),
    };
  }

  changed(name) {
    if (name === "seeThrough") this.sceneView.bodies.setSeeThrough(this.options.seeThrough);
    if (name === "difference") this.plots.setDifference(this.options.difference);
    if (name === "shadows") this.sceneView.sun.castShadow = this.options.shadows;
    if (name === "follow") this.sceneView.camera.hasFollowed = false;
    this.hud.legend(this.options);
    this.stale = true;
  }

  show(name, value) {
    this.options[name] = value;
    this.panel.refresh(name);
    this.changed(name);
  }

  seek(time) {
    this.player.seek(time);
    this.stale = true;
  }

  fileName(ending) {
    const name = this.runs[0].description.title.replace(/[^\w.-]+/g, "_") || "tabi";
    return `${name}-${this.player.time.toFixed(3)}.${ending}`;
  }

  async screenshot() {
    save(await screenshot(this.sceneView), this.fileName("png"));
  }

  toggleVideo() {
    try {
      if (this.video.recording) this.video.stop();
      else this.video.start();
    } catch (error) {
      this.messages.error(error.message);
    }
  }

  showRecording(on) {
    this.panel.controls.video.name(on ? "stop recording (V)" : "record video (V)");
    document.body.classList.toggle("recording", on);
  }

  togglePlots() {
    document.body.classList.toggle("without-plots");
    this.resize();
  }

  resize() {
    this.sceneView.resize(this.panel.covers);
  }

  fit(fromDefault = false) {
    this.sceneView.fit(this.replay, fromDefault);
    this.stale = true;
  }

  wire() {
    const { player } = this;
    const act = (id, action) => ($(id).onclick = () => (action(), (this.stale = true)));
    act("play", () => player.toggle());
    act("step", () => player.step(1));
    act("back", () => player.step(-1));
    act("reset", () => player.reset());
    act("toggle-plots", () => this.togglePlots());
    act("help-button", () => $("help").showModal());
    $("scrub").oninput = () => this.seek(Number($("scrub").value));
    this.wireSpeed();
    listKeys($("keys"));
    listenKeys(this.keys());
    this.steer?.listen(() => this.player.playing && this.runs[0].description.walks);
    new ResizeObserver(() => this.resize()).observe($("scene"));
  }

  wireSpeed() {
    const select = $("speed");
    const name = (speed) => (speed < 1 ? `1/${1 / speed}` : String(speed));
    select.replaceChildren(
      ...SPEEDS.map((speed) => new Option(`${name(speed)} ×`, speed, speed === 1, speed === 1)),
    );
    select.onchange = () => {
      this.player.setSpeed(Number(select.value));
      select.blur();
    };
  }

  keys() {
    const { player } = this;
    const speed = (n) => {
      player.faster(n);
      $("speed").value = player.speed;
    };
    const redrawn = (action) => (event) => {
      action(event);
      this.stale = true;
    };
    const table = {
      " ": () => player.toggle(),
      ArrowRight: (event) => player.step(event.shiftKey ? 10 : 1),
      ArrowLeft: (event) => player.step(event.shiftKey ? -10 : -1),
      Home: () => player.seek(this.replay.start),
      End: () => player.seek(this.replay.end),
      Backspace: () => player.reset(),
      "-": () => speed(-1),
      "=": () => speed(1),
      "+": () => speed(1),
      f: () => this.fit(),
      h: () => this.panel.toggle(),
      c: () => this.show("follow", !this.options.follow),
      p: () => this.togglePlots(),
      s: () => this.screenshot(),
      v: () => this.toggleVideo(),
      "?": () => $("help").showModal(),
    };
    return Object.fromEntries(Object.entries(table).map(([key, action]) => [key, redrawn(action)]));
  }

  /* ------------------------------------------------------------------------------ pictures */

  /* The first picture tells how large things are. */
  enterFirst() {
    this.entered = true;
    if (this.runs[0].description.live) this.sceneView.enter(this.runs);
    this.sceneView.bodies.update(this.replay.at(this.player.index));
    this.fit(true);
    $("waiting").hidden = true;
  }

  drawNext(now) {
    const begin = performance.now();
    const seconds = (now - (this.last ?? now)) / 1e3;
    this.last = now;
    const drawn = this.replay.count > 0 && this.update(now, seconds);
    this.pictureTimes.add(performance.now() - begin, seconds, drawn);
    if (this.pictureTimes.isSlow && this.options.shadows) this.show("shadows", false);
    requestAnimationFrame((next) => this.drawNext(next));
  }

  /* Whether something was drawn. */
  update(now, seconds) {
    const { player, sceneView } = this;
    if (!this.entered) this.enterFirst();
    player.advance(seconds);
    const { index } = player;
    const picture = this.replay.at(index);
    const moved = this.stale || this.grown || index + this.replay.forgotten !== this.shown;
    if (moved || player.playing) this.hud.update(picture, player, now);
    if (moved) this.draw(picture, index);
    if (this.options.follow)
      sceneView.camera.follow(picture, seconds, !player.playing && moved);
    sceneView.camera.controls.update();
    this.plots.update(player.time, now, this.grown);
    this.grown = false;
    const drawn = sceneView.dirty || this.video.recording;
    if (drawn) this.render(picture);
    return drawn;
  }

  draw(picture, index) {
    const second = this.runs[1]?.replay;
    const ghost = second?.count ? second.at(second.find(this.player.time)) : null;
    this.sceneView.show(picture, index, this.replay, ghost, this.options);
    this.push?.draw();
    this.shown = index + this.replay.forgotten;
    this.stale = false;
  }

  render(picture) {
    this.sceneView.render();
    this.readyMs ??= performance.now();
    /* they stand still in the scene, so they move on the screen with the camera */
    if (this.options.residuals)
      this.sceneView.contacts.updateLabels(picture, this.options, this.sceneView.camera.eye);
  }

  start() {
    if (!this.runs[0].description.live) this.player.play();
    requestAnimationFrame((now) => this.drawNext(now));
  }
}
