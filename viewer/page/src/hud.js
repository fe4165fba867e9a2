/* hud.js - words over the scene: what is shown, how it runs, and what the colours mean. */
import { FLAG, CONTACT } from "./replay.js";

const LEGENDS = {
  contacts: [
    ["#1b9e5a", "stick"],
    ["#f08c00", "slip"],
    ["#9aa5b1", "separating"],
  ],
  residuals: [
    ["#18c93b", "1e-12 m/s"],
    ["#c7a819", "1e-7"],
    ["#c71919", "1e-2"],
  ],
  cones: [
    ["#18c93b", "|ft| / (μ fn) = 0"],
    ["#c71919", "1: friction limit"],
  ],
};
const EVERY_MS = 70;

const element = Object.fromEntries(
  ["title", "subtitle", "facts", "time", "factor", "scrub", "play", "legend"].map((id) => [
    id,
    document.getElementById(id),
  ]),
);

function set(id, text) {
  if (element[id].textContent !== text) element[id].textContent = text;
}

export class Hud {
  constructor(runs, live) {
    this.runs = runs;
    this.live = live;
    this.told = -Infinity;
    this.line = true;
    this.name();
  }

  name() {
    const { title, settings, path } = this.runs[0].description;
    const names = this.runs
      .map((run) => run.name)
      .join(", ")
      .replace(/, ([^,]*)$/, " and $1");
    document.title = `${title} – tabi`;
    set("title", names.includes(title) ? names : `${title}: ${names}`);
    element.title.title = path;
    const { contact, integrator, timestep, friction } = settings;
    const words = [contact, integrator, `${Number((1e3 * timestep).toPrecision(6))} ms`];
    if (Number.isFinite(friction)) words.push(`friction ${Number(friction.toPrecision(4))}`);
    set("subtitle", words.join(" · "));
  }

  update(picture, player, now) {
    if (now - this.told < EVERY_MS && player.playing) return;
    this.told = now;
    const { replay } = this.runs[0];
    set("time", `${picture.time.toFixed(3)} s`);
    const { scrub, play } = element;
    scrub.min = replay.start;
    scrub.max = replay.end;
    scrub.value = player.time;
    const factor = picture.factor > 0 ? `× ${picture.factor.toFixed(2)} real time` : "";
    set("factor", this.live ? factor : "");
    set("facts", this.facts(picture, player));
    play.classList.toggle("playing", player.playing);
    play.setAttribute("aria-label", player.playing ? "Pause" : "Play");
  }

  facts(picture, player) {
    let pushing = 0;
    let residual = 0;
    for (let i = 0; i < picture.ncontact; ++i) {
      const at = picture.contact(i);
      if (picture.i32[at + CONTACT.STATUS] > 0) ++pushing;
      residual = Math.max(residual, picture.f32[at + CONTACT.RESIDUAL]);
    }
    const words = [`step ${picture.step}`, `${pushing} contact${pushing === 1 ? "" : "s"}`];
    if (pushing) words.push(`residual ${residual.toExponential(1)} m/s`);
    if (picture.flags & FLAG.DIVERGED) words.push("diverged");
    else if (!(picture.flags & FLAG.CONVERGED)) words.push("not converged");
    if (!this.line) words.push("no connection");
    else if (this.live && !player.playing && picture.step === 0) words.push("space starts it");
    return words.join(" · ");
  }

  legend(options) {
    const rows = [];
    if (options.residuals) rows.push(...LEGENDS.residuals);
    else if (options.contacts) rows.push(...LEGENDS.contacts);
    if (options.cones) rows.push(...LEGENDS.cones);
    element.legend.replaceChildren(
      ...rows.map(([colour, words]) => {
        const item = document.createElement("li");
        const dot = document.createElement("i");
        dot.style.background = colour;
        item.append(dot, words);
        return item;
      }),
    );
  }
}
