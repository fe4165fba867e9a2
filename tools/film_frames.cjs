// film_frames.cjs REPLAY.html FOLDER FROM TO RATE - pictures of a replay for tools/film.py: FOLDER/0000.png, ..., and
// FOLDER/frames.json with the time of each and where the shoulders are on it.
"use strict";

const fs = require("node:fs");
const path = require("node:path");
const { pathToFileURL } = require("node:url");

const { View, launch } = require("../tests/viewer/browser/browser.cjs");

const SIZE = { width: 1400, height: 1200 }; // more than the film's, so that edges become smooth
const TURN = 110; // pixels by which the mouse turns the view towards the robot's front
const SHOULDERS = ["l_shoulder", "r_shoulder"];

// From the front, without anything beside the scene, so that the place of half the time is in the middle.
async function arrange(view, middle) {
  await view.ask((time) => {
    window.tabi.pause();
    window.tabi.seek(time);
    document.getElementById("toggle-plots").click();
    document.getElementById("panel").style.display = "none";
    window.tabi.show("trails", true);
  }, middle);
  await view.drawn();
  const { mouse } = view.page;
  await mouse.move(SIZE.width / 2, 150);
  await mouse.down();
  await mouse.move(SIZE.width / 2 - TURN, 150, { steps: 5 });
  await mouse.up();
  await new Promise((resolve) => setTimeout(resolve, 2000)); // the camera comes to rest
  await view.ask(() => window.tabi.show("follow", false));
}

async function frame(view, time) {
  await view.ask((t) => window.tabi.seek(t), time);
  await view.drawn();
  return view.ask(async (names) => {
    const bytes = new Uint8Array(await (await window.tabi.screenshot()).arrayBuffer());
    let text = "";
    for (const byte of bytes) text += String.fromCharCode(byte);
    const links = window.tabi.scene.links.map((link) => link.name.split("/").pop());
    return {
      time: window.tabi.time,
      shoulders: names.map((name) => window.tabi.onScreen(links.indexOf(name))),
      png: btoa(text),
    };
  }, SHOULDERS);
}

async function main() {
  const [replay, folder, from, to, rate] = process.argv.slice(2);
  const browser = await launch();
  try {
    const view = await View.open(browser, pathToFileURL(path.resolve(replay)).href, SIZE);
    await arrange(view, (Number(from) + Number(to)) / 2);
    const frames = [];
    for (let time = Number(from); time < Number(to); time += 1 / Number(rate)) {
      const { png, ...rest } = await frame(view, time);
      const name = `${String(frames.length).padStart(4, "0")}.png`;
      fs.writeFileSync(path.join(folder, name), Buffer.from(png, "base64"));
      frames.push({ name, ...rest });
    }
    fs.writeFileSync(path.join(folder, "frames.json"), JSON.stringify(frames));
  } finally {
    await browser.close();
  }
}

main();
