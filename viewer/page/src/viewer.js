/* viewer.js - puts the parts of the page together and runs them frame by frame. */
import { Video, save, screenshot } from "./capture.js";
import { FLAG } from "./film.js";
import { Hud } from "./hud.js";
import { listKeys, listenKeys } from "./keys.js";
import { Live } from "./live.js";
import { Panel, defaultOptions } from "./panel.js";
import { Player, SPEEDS } from "./player.js";
import { Plots } from "./plots.js";
import { Push } from "./push.js";
import { complete, socketAddress } from "./source.js";
import { Stopwatch } from "./stopwatch.js";
import { Theatre } from "./theatre.js";

const LOST = "the connection to tabi is lost; start `tabi view` again";
const REFUSED = "tabi does not let this page in; four may watch at once: close another";

const $ = (id) => document.getElementById(id);

export class Viewer {
  constructor(runs, messages) {
    this.runs = runs;
    this.messages = messages;
    this.film = runs[0].film;
    this.stale = true; /* the picture has to be drawn anew */
    this.entered = false;
    this.watch = new Stopwatch();
    this.theatre = new Theatre($("view"), $("labels"));
    this.theatre.enter(runs);
    this.options = defaultOptions(this.theatre);
    this.video = new Video(
      this.theatre,
      (blob) => save(blob, this.fileName("webm")),
      (on) => this.showRecording(on),
    );
    const live = runs[0].stage.live ? this.connect() : null;
    this.player = new Player(this.film, live);
    this.player.onend = () => this.video.recording && this.video.stop();
    this.panel = new Panel($("panel"), this.options, this.actions(), runs, this.theatre.force);
    this.hud = new Hud(runs, Boolean(live));
    this.plots = new Plots($("plot-list"), $("signal"), runs, (time) => this.seek(time));
    this.push = live ? new Push(this.theatre, (command) => live.send(command)) : null;
    this.hud.legend(this.options);
    this.resize();
    this.wire();
  }

  /* ------------------------------------------------------------------------- a live world */

  connect() {
    return new Live(socketAddress(), {
      picture: (buffer) => this.receive(buffer),
      stage: (stage, reset) => this.receiveStage(complete(stage), reset),
      error: (text) => this.refused(text),
      notice: (text) => this.messages.notice(text),
      line: (up) => this.setLine(up),
    });
  }

  receive(buffer) {
    const view = new DataView(buffer);
    /* a world that went back, as after a reset, has another past */
    const time = view.getFloat64(8, true);
    if (this.film.count && time < this.film.end) this.forget();
    /* and one that stands, as while it is pulled or changed, has one picture of its present */
    if (this.film.count && time === this.film.end) this.film.drop();
    const { forgotten } = this.film;
    this.film.append(buffer);
    this.grown = true;
    this.player.received(Boolean(view.getUint32(44, true) & FLAG.PAUSED));
    if (this.film.forgotten !== forgotten) this.stale = true;
  }

  receiveStage(stage, reset) {
    const before = this.runs[0].stage;
    this.runs[0].stage = stage;
    if (reset) this.forget();
    const same =
      JSON.stringify([before.shapes, before.links]) === JSON.stringify([stage.shapes, stage.links]);
    if (!same) {
      this.theatre.enter(this.runs);
      this.changed("seeThrough");
    }
    this.panel.setWorld(stage.settings);
    this.hud.name();
    this.stale = true;
  }

  forget() {
    this.film.clear();
    this.theatre.trails.restart(0);
    this.stale = true;
  }

  refused(text) {
    this.messages.error(text);
    this.panel.setWorld(this.runs[0].stage.settings);
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
    if (name === "seeThrough") this.theatre.bodies.setSeeThrough(this.options.seeThrough);
    if (name === "difference") this.plots.setDifference(this.options.difference);
    if (name === "shadows") this.theatre.sun.castShadow = this.options.shadows;
    if (name === "follow") this.theatre.camera.hasFollowed = false;
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
    const name = this.runs[0].stage.title.replace(/[^\w.-]+/g, "_") || "tabi";
    return `${name}-${this.player.time.toFixed(3)}.${ending}`;
  }

  async screenshot() {
    save(await screenshot(this.theatre), this.fileName("png"));
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
    this.theatre.resize(this.panel.covers);
  }

  fit(fromUsual = false) {
    this.theatre.fit(this.film, fromUsual);
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
    new ResizeObserver(() => this.resize()).observe($("stage"));
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
      Home: () => player.seek(this.film.start),
      End: () => player.seek(this.film.end),
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

  /* -------------------------------------------------------------------------------- frames */

  /* The first picture tells how large things are. */
  enterFirst() {
    this.entered = true;
    if (this.runs[0].stage.live) this.theatre.enter(this.runs);
    this.theatre.bodies.update(this.film.at(this.player.index));
    this.fit(true);
    $("waiting").hidden = true;
  }

  frame(now) {
    const begin = performance.now();
    const seconds = (now - (this.last ?? now)) / 1e3;
    this.last = now;
    if (this.film.count) this.update(now, seconds);
    this.watch.add(performance.now() - begin, seconds);
    if (this.watch.isSlow && this.options.shadows) this.show("shadows", false);
    requestAnimationFrame((next) => this.frame(next));
  }

  update(now, seconds) {
    const { player, theatre } = this;
    if (!this.entered) this.enterFirst();
    player.advance(seconds);
    const { index } = player;
    const picture = this.film.at(index);
    const moved = this.stale || this.grown || index + this.film.forgotten !== this.shown;
    if (moved || player.playing) this.hud.update(picture, player, now);
    if (moved) this.draw(picture, index);
    if (this.options.follow)
      theatre.camera.follow(picture, theatre.stage, seconds, !player.playing && moved);
    theatre.camera.controls.update();
    this.plots.update(player.time, now, this.grown);
    this.grown = false;
    if (theatre.dirty || this.video.recording) this.render(picture);
  }

  draw(picture, index) {
    const second = this.runs[1]?.film;
    const ghost = second?.count ? second.at(second.find(this.player.time)) : null;
    this.theatre.show(picture, index, this.film, ghost, this.options);
    this.push?.draw();
    this.shown = index + this.film.forgotten;
    this.stale = false;
  }

  render(picture) {
    this.theatre.render();
    this.readyMs ??= performance.now();
    /* they stand still in the scene, so they move on the screen with the camera */
    if (this.options.residuals)
      this.theatre.contacts.updateLabels(picture, this.options, this.theatre.camera.eye);
  }

  start() {
    if (!this.runs[0].stage.live) this.player.play();
    requestAnimationFrame((now) => this.frame(now));
  }
}
