// Replays in a browser: one file with two runs, opened from the disk, plays, obeys keys and mouse,
// draws what it is asked to, and writes pictures and videos; hostile names are nothing but names.
// Nothing here depends on how fast pictures come: tests wait for what must happen.
"use strict";

const assert = require("node:assert/strict");
const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { after, before, test } = require("node:test");
const { pathToFileURL } = require("node:url");

const { Server, View, launch, skipWithoutChromium } = require("./browser.cjs");

skipWithoutChromium();

const MODELS = path.join(__dirname, "..", "..", "..", "models");
const FORCE = [0xd6, 0x33, 0x6c];
const END = 0.8; // s, of the replay

// A robot is dropped and sinks to its knees, or stands when its joints are stiff.
const scene = (stiffness) => `\
name: knees
materials: {ground: {friction: 0.7}}
bodies:
  - {name: floor, fixed: true, shape: {plane: {}}, material: ground}
robots:
  - name: robot
    model: ${path.join(MODELS, "humanoid20.urdf")}
    base: free
    xyz: [0, 0, 0.26]
    posture: {l_hip_pitch: -0.4, l_knee: 0.8, l_ankle_pitch: -0.4,
              r_hip_pitch: -0.4, r_knee: 0.8, r_ankle_pitch: -0.4}
    materials: {l_foot: ground, r_foot: ground}
    controller: {type: pd, kp: ${stiffness}, kd: 1, implicit: true}
`;

const HOSTILE = `\
name: "</script><script>document.title='taken'</script>"
bodies:
  - {name: floor, fixed: true, shape: {plane: {}}}
  - {name: "<img src=x onerror=document.title='taken'>", mass: 1, shape: {sphere: 0.1},
     xyz: [0, 0, 0.2]}
`;

let folder, browser, view, pictures;

const tabi = (...words) => execFileSync(process.env.TABI, words, { stdio: "pipe" });

function file(name, text) {
  const place = path.join(folder, name);
  if (text !== undefined) fs.writeFileSync(place, text);
  return place;
}

function open(name) {
  return View.open(browser, pathToFileURL(file(name)).href);
}

// All that can be drawn over the bodies, on or off.
function showNothing() {
  return view.ask(() => {
    for (const name of ["contacts", "forces", "cones", "residuals", "com", "zmp", "polygon", "axes",
      "inertia", "trails", "ghost", "shadows"])
      window.tabi.show(name, false);
  });
}

before(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), "tabi-replay-"));
  for (const [name, stiffness] of [["sinks", 12], ["stands", 60]])
    tabi("run", file(`${name}.yaml`, scene(stiffness)), "--time", String(END), "--log",
      file(`${name}.tabi`));
  tabi("view", file("sinks.tabi"), file("stands.tabi"), "--html", file("two.html"));
  tabi("view", file("hostile.yaml", HOSTILE), "--set", "duration=0.1", "--html",
    file("hostile.html"));
  browser = await launch();
  view = await open("two.html");
  pictures = await view.ask(() => window.tabi.count);
});

after(async () => {
  await browser?.close();
  fs.rmSync(folder, { recursive: true, force: true });
});

test("plays until it is paused, and again from the start after its end", async () => {
  const { page } = view;
  await view.until("it plays on", () => window.tabi.time > 0.05);
  await page.keyboard.press("Space");
  assert.equal(await view.ask(() => window.tabi.playing), false);
  const paused = await view.ask(() => window.tabi.time);
  await view.drawn();
  assert.equal(await view.ask(() => window.tabi.time), paused);
  await page.keyboard.press("End");
  await view.drawn();
  assert.equal(await view.ask(() => window.tabi.time), END);
  await page.click("#play");
  await view.until("it has begun anew", (end) => window.tabi.time < end, END);
  await view.until("it has ended", () => !window.tabi.playing && window.tabi.time > 0.5);
});

test("the timeline and the plots go to a time, together with the picture", async () => {
  const { page } = view;
  // where the lines in the plots stand, as a part of their width, that is, of the replay
  const lines = () => view.ask(() => [...document.querySelectorAll(".now")].map((line) => {
    const [a, b] = [line, line.parentElement].map((e) => e.getBoundingClientRect());
    return (a.left - b.left) / b.width;
  }));
  const torso = () => view.ask(() => window.tabi.onScreen(window.tabi.scene.robots[0].base));
  const box = await page.locator("#scrub").boundingBox();
  await page.mouse.click(box.x + 0.25 * box.width, box.y + 0.5 * box.height);
  await view.drawn();
  const early = await torso();
  assert.ok(Math.abs((await view.ask(() => window.tabi.time)) - 0.25 * END) < 0.05);
  const plot = await page.locator("#plot-list .u-over").first().boundingBox();
  await page.mouse.click(plot.x + 0.75 * plot.width, plot.y + 0.5 * plot.height);
  await view.drawn();
  const time = await view.ask(() => window.tabi.time);
  assert.ok(Math.abs(time - 0.75 * END) < 0.02, `${time}`);
  await view.until("the clock says so",
    (t) => document.getElementById("time").textContent === `${t.toFixed(3)} s`, time);
  const at = await lines();
  assert.ok(at.length >= 2);
  for (const part of at) assert.ok(Math.abs(part - 0.75) < 0.01, `${part}`);
  assert.ok((await torso())[1] > early[1] + 2, "the robot has sunk");
});

test("arrows go one picture on and back", async () => {
  const { page } = view;
  await view.ask(() => window.tabi.seek(0.3));
  const [index, time] = await view.ask(() => [window.tabi.index, window.tabi.time]);
  await page.keyboard.press("ArrowRight");
  assert.equal(await view.ask(() => window.tabi.index), index + 1);
  assert.ok((await view.ask(() => window.tabi.time)) > time);
  await page.keyboard.press("Shift+ArrowLeft");
  assert.equal(await view.ask(() => window.tabi.index), index - 9);
});

test("slow motion is never faster than it says", async () => {
  const { page } = view;
  await page.keyboard.press("-");
  await page.keyboard.press("-");
  assert.equal(await view.ask(() => window.tabi.speed), 0.25);
  assert.equal(await page.locator("#speed").inputValue(), "0.25");
  await page.locator("#speed").selectOption("0.03125");
  await view.ask(() => window.tabi.seek(0));
  const begin = await view.ask(() => performance.now());
  await page.keyboard.press("Space");
  await view.until("it moves on", () => window.tabi.index >= 2);
  const [now, time] = await view.ask(() => [performance.now(), window.tabi.time]);
  // a picture is shown from half an interval before its time
  assert.ok((now - begin) / 1e3 >= 32 * (time - 0.5 / 60), `${time} s after ${now - begin} ms`);
  await page.keyboard.press("Space");
  await page.locator("#speed").selectOption("1");
});

test("all that can be drawn is drawn, and only when asked for", async () => {
  await view.ask(() => window.tabi.seek(0.4));
  await showNothing();
  await view.ask(() => window.tabi.show("seeThrough", true)); // feet hide where they were
  await view.drawn();
  await view.remember();
  const counts = { contacts: "points", forces: "arrows", cones: "cones", com: "coms", zmp: "zmps",
    polygon: "polygons", axes: "axes", inertia: "inertias", trails: "trail", ghost: "ghost" };
  for (const [option, count] of Object.entries(counts)) {
    assert.equal(Number(await view.ask((name) => window.tabi.drawn[name], count)), 0, option);
    await view.ask((name) => window.tabi.show(name, true), option);
    await view.drawn();
    const drawn = Number(await view.ask((name) => window.tabi.drawn[name], count));
    assert.ok(drawn > 0, `${option}: ${drawn}`);
    const changed = await view.changes();
    assert.ok(changed > 15, `${option} changes ${changed} pixels`);
    await view.ask((name) => window.tabi.show(name, false), option);
    await view.drawn();
  }
  assert.equal(await view.changes(), 0, "nothing remains");
  await view.ask(() => window.tabi.show("seeThrough", false));
});

test("arrows have their colour, and their length the scaling that is chosen", async () => {
  const { page } = view;
  await showNothing();
  await page.locator("#option-forces input").check();
  await view.drawn();
  const linear = await view.pixels(FORCE);
  assert.ok(linear > 40, `${linear}`);
  await page.locator("#option-scaling select").selectOption({ index: 2 });
  await view.drawn();
  assert.notEqual(await view.pixels(FORCE), linear);
  await page.locator("#option-scaling select").selectOption({ index: 0 });
  await page.locator("#option-forces input").uncheck();
  await view.drawn();
  assert.equal(await view.pixels(FORCE), 0);
  await page.locator("#option-residuals input").check();
  await view.until("contacts say by how much they miss", () =>
    /^\de[+-]\d+$/.test(document.querySelector("#labels span:not([hidden])")?.textContent));
  await page.locator("#option-residuals input").uncheck();
});

test("the ghost is the second run, and plots show the difference", async () => {
  const { page } = view;
  await view.ask(() => window.tabi.seek(0.6));
  await view.ask(() => window.tabi.show("ghost", true));
  await view.drawn();
  await page.fill("#signal", "com.z");
  await page.keyboard.press("Enter");
  const head = page.locator("#plot-list header").last();
  assert.match(await head.textContent(), /com\.z .*com\.z/, "a curve for each run");
  await page.locator("#option-difference input").check();
  await view.until("the plot is that of differences", () =>
    /Δ com\.z \d/.test([...document.querySelectorAll("#plot-list header")].at(-1).textContent));
  const words = await head.textContent();
  assert.ok(Number(/com\.z ([\d.]+)/.exec(words)[1]) > 0.005, `the second stands higher: ${words}`);
  await page.locator("#option-difference input").uncheck();
});

test("signals can be plotted by pattern, and what has no signal is refused", async () => {
  const { page } = view;
  const plots = () => page.locator("#plot-list section").count();
  const count = await plots();
  await page.fill("#signal", "no such thing");
  await page.keyboard.press("Enter");
  assert.equal(await view.ask(() => document.getElementById("signal").validity.valid), false);
  assert.equal(await plots(), count);
  await page.fill("#signal", "com");
  await page.keyboard.press("Enter");
  assert.ok((await plots()) > count);
  await page.locator("#plot-list header button").last().click();
  await page.locator("#view").focus();
});

test("writes pictures and videos", async () => {
  const { page } = view;
  const picture = await view.saved(() => page.keyboard.press("s"));
  assert.match(picture.name, /^knees-[\d.]+\.png$/);
  assert.equal(picture.bytes.toString("latin1", 0, 8), "\x89PNG\r\n\x1a\n");
  const size = await view.ask(() => {
    const { width, height } = document.getElementById("view");
    return [width, height];
  });
  assert.deepEqual([picture.bytes.readUInt32BE(16), picture.bytes.readUInt32BE(20)], size);
  const record = async (speed) => {
    await page.locator("#speed").selectOption(speed);
    await page.locator("#view").focus();
    await view.ask(() => window.tabi.seek(0));
    await page.keyboard.press("v");
    await view.until("it records", () => document.body.classList.contains("recording"));
    // the end of the replay ends the video
    return view.saved(() => page.keyboard.press("Space"));
  };
  // a busy machine may not have encoded a picture when a short replay is over
  let video = { bytes: [] };
  for (const speed of ["1", "0.25", "0.0625"]) {
    if (video.bytes.length === 0) video = await record(speed);
  }
  await page.locator("#speed").selectOption("1");
  await page.locator("#view").focus();
  assert.match(video.name, /^knees-[\d.]+\.webm$/);
  assert.equal(video.bytes.readUInt32BE(0), 0x1a45dfa3);
  const frame = await view.ask((base64) => new Promise((resolve) => {
    const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
    const player = document.createElement("video");
    player.onloadeddata = () => resolve([player.videoWidth, player.videoHeight]);
    player.onerror = () => resolve(player.error.message);
    player.src = URL.createObjectURL(new Blob([bytes], { type: "video/webm" }));
  }), video.bytes.toString("base64"));
  assert.deepEqual(frame, size);
});

test("lists its keys", async () => {
  const { page } = view;
  const isOpen = () => view.ask(() => document.getElementById("help").open);
  await page.keyboard.press("?");
  assert.equal(await isOpen(), true);
  assert.match(await page.locator("#help").innerText(), /Space[\s\S]*damped spring/);
  await page.keyboard.press("Escape");
  assert.equal(await isOpen(), false);
});

test("fits into a telephone", async () => {
  const { page } = view;
  await page.setViewportSize({ width: 390, height: 760 });
  await view.drawn();
  const width = await view.ask(() => document.documentElement.scrollWidth);
  assert.ok(width <= 390, `${width} pixels wide`);
  for (const id of ["view", "play", "scrub", "help-button"]) {
    const box = await page.locator(`#${id}`).boundingBox();
    assert.ok(box.width > 12 && box.height > 12, id);
    assert.ok(box.x >= 0 && box.x + box.width <= 391 && box.y + box.height <= 761, id);
  }
  await page.click("#play");
  await view.until("it plays", () => window.tabi.time > 0);
});

test("none of this made the browser complain", () => {
  assert.deepEqual(view.complaints, []);
});

test("names are text", async () => {
  await view.page.close();
  view = await open("hostile.html");
  const { page } = view;
  assert.match(await page.locator("#title").textContent(), /<\/script><script>/);
  await page.fill("#signal", "<img*");
  await page.keyboard.press("Enter");
  assert.match(await page.locator("#plot-list header").last().textContent(), /<img src=x onerror/);
  assert.match(await page.title(), /^<\/script>/);
  assert.equal(await page.locator("img").count(), 0);
  assert.deepEqual(view.complaints, []);
});

test("logs that are served are the same replays", async () => {
  await view.page.close();
  const server = await Server.start(file("sinks.tabi"), file("stands.tabi"));
  try {
    view = await View.open(browser, server.address);
    assert.deepEqual(
      await view.ask(() => [window.tabi.live, window.tabi.drawn.ghost, window.tabi.count]),
      [false, true, pictures]);
    assert.deepEqual(view.complaints, []);
  } finally {
    await server.stop();
  }
});

test("a file that was cut says so", async () => {
  const whole = fs.readFileSync(file("two.html"), "utf8");
  const replay = whole.indexOf('id="tabi-replay-0">') + 17;
  file("cut.html", whole.slice(0, replay + 4000) + whole.slice(whole.indexOf("</script>", replay)));
  await view.page.close();
  view = await open("cut.html");
  assert.notEqual(await view.page.locator("#messages .error").innerText(), "");
  assert.equal(await view.ask(() => window.tabi.ready), false);
  assert.deepEqual(view.complaints, []);
});
