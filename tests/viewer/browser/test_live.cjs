// A running scene in a browser: the page that `tabi view` serves shows the world, stops, steps and
// slows it, changes its laws, pulls its robot with the mouse, and says when something is refused or
// the program is gone.  Nothing here depends on how fast the world runs.
"use strict";

const assert = require("node:assert/strict");
const path = require("node:path");
const { after, before, test } = require("node:test");

const { Server, View, launch, skipWithoutChromium } = require("./browser.cjs");

skipWithoutChromium();

const SCENES = path.join(__dirname, "..", "..", "..", "scenes");

let server, browser, view;

const settings = () => view.ask(() => window.tabi.scene.settings);
const step = () => view.ask(() =>
  Number(/step (\d+)/.exec(document.getElementById("facts").textContent)[1]));
// of the centre of mass, in m
const place = () => view.ask(() =>
  ["x", "y", "z"].map((axis) => window.tabi.signal(`com.${axis}`)));
const distance = (a, b) => Math.hypot(...a.map((x, i) => x - b[i]));

// The world goes on from where it was.
async function goesOn() {
  const time = await view.ask(() => window.tabi.time);
  await view.until("the world goes on", (t) => window.tabi.time > t + 0.02, time);
  const count = await view.ask(() => window.tabi.count);
  assert.ok(count > 2, "the past is kept");
}

async function enter(id, value) {
  const field = view.page.locator(`#${id} input`);
  await field.fill(String(value));
  await field.press("Enter");
}

before(async () => {
  server = await Server.start(path.join(SCENES, "stand_humanoid20.yaml"));
  browser = await launch();
  view = await View.open(browser, server.address);
});

after(async () => {
  await browser?.close();
  await server?.stop();
});

test("shows a world that runs", async () => {
  await goesOn();
  assert.equal(await view.ask(() => window.tabi.live && window.tabi.playing), true);
  assert.match(await view.page.locator("#title").textContent(), /standing small humanoid/);
  await view.until("it says how fast", () =>
    / [\d.]+ real time/.test(document.getElementById("factor").textContent));
  await view.until("forces are drawn", () => window.tabi.drawn.arrows >= 4);
  await view.ask(() => window.tabi.show("shadows", false)); // they take time here
});

test("stops, and steps once for an arrow", async () => {
  const { page } = view;
  await page.keyboard.press("Space");
  await view.until("the world stands still", async () => {
    const { count } = window.tabi;
    await new Promise((resolve) => setTimeout(resolve, 300));
    return !window.tabi.playing && window.tabi.count === count;
  });
  await view.drawn();
  const [before, time] = [await step(), await view.ask(() => window.tabi.time)];
  await page.keyboard.press("ArrowRight");
  await view.until("it has stepped", (t) => window.tabi.time > t, time);
  await view.drawn();
  assert.equal(await step(), before + 1);
  assert.ok(Math.abs((await view.ask(() => window.tabi.time)) - time - 1e-3) < 1e-9);
  await page.keyboard.press("ArrowLeft");
  assert.equal(await view.ask(() => window.tabi.time), time);
  await view.drawn();
  await page.keyboard.press("Space");
  await goesOn();
});

test("looks back while the world waits", async () => {
  const { page } = view;
  const box = await page.locator("#scrub").boundingBox();
  await page.mouse.click(box.x + 0.3 * box.width, box.y + 0.5 * box.height);
  const [time, index, count] = await view.ask(() => {
    const { time, index, count } = window.tabi;
    return [time, index, count];
  });
  assert.ok(index < count - 1);
  await view.drawn();
  assert.equal(await view.ask(() => window.tabi.time), time);
  await page.click("#play");
  await view.until("the newest is shown", () => window.tabi.index === window.tabi.count - 1);
  await goesOn();
});

test("changes contact method, friction and time step of a world that goes on", async () => {
  const { page } = view;
  await page.locator("#set-contact select").selectOption("exact");
  await view.until("the scene says so", () => window.tabi.scene.settings.contact === "exact");
  await goesOn();
  await enter("set-friction", 0.35);
  await view.until("the scene says so", () =>
    Math.abs(window.tabi.scene.settings.friction - 0.35) < 1e-6);
  await goesOn();
  await enter("set-timestep", 5e-4);
  await view.until("the scene says so", () => window.tabi.scene.settings.timestep === 5e-4);
  await goesOn();
  assert.match(await page.locator("#subtitle").textContent(), /^exact .*0\.5 ms .*0\.35/);
  // news of the first that come while the second is typed do not change what is typed
  await page.locator("#set-contact select").selectOption("lcp");
  const field = page.locator("#set-timestep input");
  await field.fill("0.001");
  await view.until("the scene says so", () => window.tabi.scene.settings.contact === "lcp");
  await field.press("Enter");
  await view.until("the scene says so", () => window.tabi.scene.settings.timestep === 1e-3);
});

test("says what is refused, and shows what holds", async () => {
  const { page } = view;
  await enter("set-timestep", 5);
  const error = page.locator("#messages .error");
  await error.waitFor();
  assert.match(await error.innerText(), /time ?step/i);
  assert.equal((await settings()).timestep, 1e-3);
  assert.equal(Number(await page.locator("#set-timestep input").inputValue()), 1e-3);
  await error.getByRole("button").click();
  assert.equal(await error.count(), 0);
  await page.locator("#view").focus();
});

test("pulls the robot with the mouse", async () => {
  const { page } = view;
  // whether its centre of mass is nearer to a place, or farther away, than so many m
  const shifted = ([was, min, max]) => {
    const shift = ["x", "y", "z"].map((axis, i) => window.tabi.signal(`com.${axis}`) - was[i]);
    const length = Math.hypot(...shift);
    return length >= min && length <= max;
  };
  await enter("set-friction", 0.7);
  await view.ask(() => window.tabi.reset());
  await view.until("it is back at the start", () => window.tabi.time < 0.5);
  await view.until("the robot stands", () => window.tabi.time > 0.5);
  const rest = await place();
  const [x, y] = await view.ask(() => window.tabi.onScreen(window.tabi.scene.robots[0].base));
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 30, y, { steps: 4 });
  assert.equal(await view.ask(() => window.tabi.drawn.band), true);
  await view.until("it leans", shifted, [rest, 1.5e-3, 0.1]);
  await page.mouse.up();
  assert.equal(await view.ask(() => window.tabi.drawn.band), false);
  await view.until("it stands again", shifted, [rest, 0, 7e-4]);
});

test("drags beside the robot turn the view and pull nothing", async () => {
  const { page } = view;
  const base = () => view.ask(() => window.tabi.onScreen(window.tabi.scene.robots[0].base));
  const foot = () => view.ask(() => window.tabi.onScreen(window.tabi.scene.robots[0].feet[0]));
  const before = [...(await base()), ...(await foot())];
  const box = await page.locator("#view").boundingBox();
  await page.mouse.move(box.x + 40, box.y + box.height - 60);
  await page.mouse.down();
  await page.mouse.move(box.x + 140, box.y + box.height - 90, { steps: 4 });
  assert.equal(await view.ask(() => window.tabi.drawn.band), false);
  await page.mouse.up();
  await view.drawn();
  assert.ok(distance([...(await base()), ...(await foot())], before) > 5);
});

test("slows down, and starts anew", async () => {
  const { page } = view;
  await page.locator("#speed").selectOption("0.03125");
  await view.until("the world is slow", () => window.tabi.factor > 0 && window.tabi.factor < 0.1);
  const time = await view.ask(() => window.tabi.time);
  await page.keyboard.press("Backspace");
  await view.until("the world is at its start", (t) => window.tabi.time < t, time);
  assert.equal((await settings()).contact, "lcp", "settings stay");
});

test("none of this made the browser complain", () => {
  assert.deepEqual(view.complaints, []);
});

test("says when the program is gone, and keeps what it has seen", async () => {
  await view.until("there is a past", () => window.tabi.count > 3);
  await server.stop();
  const error = view.page.locator("#messages .error");
  await error.waitFor();
  assert.match(await error.innerText(), /connection.*tabi view/);
  await view.ask(() => window.tabi.seek(0));
  await view.drawn();
  assert.equal(await view.ask(() => window.tabi.index), 0);
  const sockets = view.complaints.filter((text) => /^WebSocket connection/.test(text));
  assert.deepEqual(view.complaints, sockets);
});
