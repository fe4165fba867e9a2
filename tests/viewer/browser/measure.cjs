// measure.cjs - how large and how fast the viewer is: no test, since it depends on the machine.
//
//   export TABI=build/release/tabi NODE_PATH=build/dev/node/node_modules
//   node tests/viewer/browser/measure.cjs
//
// The replay of a walk of 20 s with 42 degrees of freedom should have at most 5 MB, be seen within
// 3 s, and take at most 8 ms of script for each picture; a walk that is watched should keep up with
// the clock.
"use strict";

const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { pathToFileURL } = require("node:url");

const { Server, View, launch } = require("./browser.cjs");

const SCENES = path.join(__dirname, "..", "..", "..", "scenes");
const SIZE = { width: 1280, height: 720 };
const WATCHED_MS = 6000;

const megabytes = (file) => (fs.statSync(file).size / 1e6).toFixed(2);
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function say(what, value, unit) {
  const load = os.loadavg()[0].toFixed(1);
  console.log(`${what.padEnd(44)} ${String(value).padStart(8)} ${unit.padEnd(8)} (load ${load})`);
}

async function sayScript(what, view) {
  const ms = await view.ask(() => window.tabi.scriptMs);
  say(`${what}: script for a picture, median`, ms.toFixed(2), "ms");
}

async function measureReplay(browser, file) {
  for (let i = 0; i < 3; ++i) {
    const view = await View.open(browser, pathToFileURL(file).href, SIZE);
    say("replay: first picture after", (await view.ask(() => window.tabi.readyMs)).toFixed(0), "ms");
    if (i === 2) {
      await wait(WATCHED_MS);
      await sayScript("replay", view);
    }
    await view.page.close();
  }
}

async function measureLive(browser) {
  const server = await Server.start(path.join(SCENES, "walk.yaml"));
  const view = await View.open(browser, server.address, SIZE);
  const clock = () => view.ask(() => [performance.now() / 1e3, window.tabi.time]);
  await wait(1000);
  const [from, begin] = await clock();
  await wait(WATCHED_MS);
  const [to, end] = await clock();
  say("running: simulated in a second", ((end - begin) / (to - from)).toFixed(3), "s");
  await sayScript("running", view);
  await view.page.close();
  await server.stop();
}

async function main() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "tabi-measure-"));
  const [log, replay] = ["walk.tabi", "walk.html"].map((name) => path.join(folder, name));
  const tabi = (...words) => execFileSync(process.env.TABI, words, { stdio: "pipe" });
  const browser = await launch();
  try {
    tabi("run", path.join(SCENES, "walk_bush.yaml"), "--time", "20", "--log", log);
    tabi("view", log, "--html", replay);
    say("replay: log, every fifth step", megabytes(log), "MB");
    say("replay: file", megabytes(replay), "MB");
    await measureReplay(browser, replay);
    await measureLive(browser);
  } finally {
    await browser.close();
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

main();
