// The file of a robot in a browser: it waits on the ground at a keyframe, with its shadow, and moves
// when it is told to.
"use strict";

const assert = require("node:assert/strict");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { after, before, test } = require("node:test");

const { Server, View, launch, skipWithoutChromium } = require("./browser.cjs");

skipWithoutChromium();

// A table with a mast and a red flag of triangles, high above a floor of its own.
const ROBOT = `<mujoco><asset><mesh name='flag' file='flag.obj'/></asset><worldbody>
<geom type='plane' size='5 5 1'/>
<body name='table' pos='0 0 1'><freejoint/>
<geom type='box' size='0.3 0.3 0.02' pos='0 0 0.4' mass='3' rgba='0.2 0.3 0.9 1'/>
<geom type='capsule' fromto='0.2 0.2 0 0.2 0.2 0.4' size='0.02' mass='0.3'/>
<geom type='capsule' fromto='-0.2 0.2 0 -0.2 0.2 0.4' size='0.02' mass='0.3'/>
<geom type='capsule' fromto='0.2 -0.2 0 0.2 -0.2 0.4' size='0.02' mass='0.3'/>
<geom type='capsule' fromto='-0.2 -0.2 0 -0.2 -0.2 0.4' size='0.02' mass='0.3'/>
<body name='mast' pos='0 0 0.42'><joint name='m' axis='0 1 0'/>
<geom type='capsule' fromto='0 0 0 0 0 0.4' size='0.01' mass='0.1'/>
<geom type='mesh' mesh='flag' rgba='0.9 0.1 0.1 1' contype='0' conaffinity='0' group='2' mass='0'/>
</body></body></worldbody>
<actuator><position name='p' joint='m' kp='50' kv='3'/></actuator><keyframe>
<key name='bent' qpos='0 0 1.5 1 0 0 0 1'/><key name='home' qpos='0 0 1.5 1 0 0 0 0.1'/>
</keyframe></mujoco>`;

// thin, so that both of its sides are seen from somewhere
const FLAG = `v 0 0 0.2\nv 0.25 0 0.2\nv 0.25 0 0.4\nv 0 0 0.4
v 0 0.01 0.2\nv 0.25 0.01 0.2\nv 0.25 0.01 0.4\nv 0 0.01 0.4
f 1 2 3 4\nf 8 7 6 5\nf 1 5 6 2\nf 2 6 7 3\nf 3 7 8 4\nf 4 8 5 1\n`;

let browser, folder, server, view;

const near = (value, wanted, room) =>
  assert.ok(Math.abs(value - wanted) <= room, `${value} is not ${wanted}`);

async function show(...words) {
  await server?.stop();
  await view?.page.close();
  server = await Server.start(path.join(folder, "table.xml"), ...words);
  view = await View.open(browser, server.address);
}

before(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), "tabi-robot-"));
  fs.writeFileSync(path.join(folder, "table.xml"), ROBOT);
  fs.writeFileSync(path.join(folder, "flag.obj"), FLAG);
  browser = await launch();
  await show();
});

after(async () => {
  await browser?.close();
  await server?.stop();
  fs.rmSync(folder, { recursive: true, force: true });
});

test("waits on the ground at its keyframe", async () => {
  await view.drawn();
  const seen = await view.ask(() => {
    const { live, playing, time, count, signal } = window.tabi;
    return { live, playing, time, count, z: signal("com.z"), m: signal("robot/m.q") };
  });
  assert.deepEqual([seen.live, seen.playing, seen.time], [true, false, 0]);
  near(seen.m, 0.1, 1e-6);
  // feet of 2 cm at z = 0, top at 0.42
  near(seen.z, 0.4, 0.05);
  assert.match(await view.page.locator("#facts").textContent(), /step 0 .*space starts it/);
  await new Promise((resolve) => setTimeout(resolve, 400));
  assert.deepEqual(await view.ask(() => [window.tabi.playing, window.tabi.time]), [false, 0]);
});

test("the camera shows all of it", async () => {
  const box = await view.page.locator("#view").boundingBox();
  for (const link of [0, 1]) {
    const [x, y] = await view.ask((i) => window.tabi.onScreen(i), link);
    assert.ok(x > box.x + 0.1 * box.width && x < box.x + 0.9 * box.width);
    assert.ok(y > box.y + 0.05 * box.height && y < box.y + 0.95 * box.height);
  }
});

test("draws meshes and colours of the file", async () => {
  await view.ask(() => window.tabi.show("com", false));
  const reds = await view.ask(async () => {
    const data = await window.look();
    let count = 0;
    for (let i = 0; i < data.length; i += 4)
      if (data[i] > 100 && data[i + 1] < 0.4 * data[i] && data[i + 2] < 0.4 * data[i]) ++count;
    return count;
  });
  assert.ok(reds > 300, `${reds} red pixels`);
  assert.equal(await view.ask(() => window.tabi.scene.meshes.length), 1);
});

test("has a shadow, which can be switched off", async () => {
  assert.equal(await view.ask(() => window.tabi.options.shadows), true);
  await view.remember();
  assert.equal(await view.changes(), 0);
  await view.page.locator("#panel .lil-title", { hasText: "Camera" }).click();
  const box = view.page.locator("#option-shadows input");
  await box.click();
  assert.equal(await view.ask(() => window.tabi.options.shadows), false);
  await view.drawn();
  const without = await view.changes();
  assert.ok(without > 1500, `${without} pixels of shadow`);
  await box.click();
  await view.drawn();
  assert.equal(await view.changes(), 0);
});

test("moves when it is told to, and stands", async () => {
  await view.ask(() => window.tabi.show("shadows", false)); // they take time here
  await view.page.locator("#view").focus();
  await view.page.keyboard.press("Space");
  await view.until("it moves", () => window.tabi.playing && window.tabi.time > 0.2);
  await view.until("forces are drawn", () => window.tabi.drawn.arrows >= 4);
  near(await view.ask(() => window.tabi.signal("com.z")), 0.4, 0.05);
  await view.page.keyboard.press("Space");
  await view.until("it stands still", () => !window.tabi.playing);
});

test("starts at another keyframe", async () => {
  await show("--keyframe", "bent");
  assert.equal(await view.ask(() => window.tabi.playing), false);
  near(await view.ask(() => window.tabi.signal("robot/m.q")), 1, 1e-6);
});

test("none of this made the browser complain", () => {
  assert.deepEqual(view.complaints, []);
});
