// browser.cjs - Debian's Chromium without a screen, pages in it that must not complain, and the
// `tabi view` that they look at.
"use strict";

const { spawn } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const { chromium } = require("playwright-core");

const PATIENCE = 40000; // ms, that anything may take when the machine has much to do
const SWITCHES = [
  "--headless", "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader",
  "--enable-unsafe-swiftshader", "--disable-background-networking", "--no-first-run",
  "--disable-component-update", "--disable-sync",
];

// Path of the browser, or null.
function findChromium() {
  const folders = (process.env.PATH ?? "").split(path.delimiter);
  const paths = folders.map((folder) => path.join(folder, "chromium"));
  return paths.find((file) => fs.existsSync(file)) ?? null;
}

// Ends the test as ctest's skips do where there is no browser.
function skipWithoutChromium() {
  if (findChromium()) return;
  console.log("chromium not found (Debian: chromium)");
  process.exit(77);
}

function launch() {
  return chromium.launch({ executablePath: findChromium(), args: SWITCHES, timeout: PATIENCE });
}

// Waits until ask() is true of something, and gives that.
async function until(what, ask) {
  const end = Date.now() + PATIENCE;
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    if (Date.now() > end) throw new Error(`waited in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

// A page of the viewer.  What a browser complains about, and what it asks other hosts for, is
// gathered in `complaints`.
class View {
  constructor(page) {
    this.page = page;
    this.complaints = [];
    page.setDefaultTimeout(PATIENCE);
    page.on("pageerror", (error) => this.complaints.push(String(error)));
    page.on("crash", () => this.complaints.push("the page crashed"));
    page.on("dialog", (dialog) => {
      this.complaints.push(`dialog: ${dialog.message()}`);
      dialog.dismiss();
    });
    page.on("console", (message) => {
      if (message.type() === "error") this.complaints.push(message.text());
    });
    page.on("request", (request) => {
      const address = new URL(request.url());
      const inside = ["file:", "data:", "blob:"].includes(address.protocol);
      if (!inside && address.origin !== new URL(page.url()).origin && page.url() !== "about:blank")
        this.complaints.push(`asks for ${address.href}`);
    });
  }

  // Opens an address and waits for the first picture.
  static async open(browser, address, size = { width: 1000, height: 520 }) {
    const page = await browser.newPage({ viewport: size, acceptDownloads: true });
    const view = new View(page);
    await page.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", (event) =>
        console.error(`policy: ${event.violatedDirective} forbids ${event.blockedURI}`));
      window.look = async () => {
        const bitmap = await createImageBitmap(await window.tabi.screenshot());
        const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
        const context = canvas.getContext("2d", { willReadFrequently: true });
        context.drawImage(bitmap, 0, 0);
        return context.getImageData(0, 0, bitmap.width, bitmap.height).data;
      };
    });
    await page.goto(address, { timeout: PATIENCE });
    await view.until("there is a picture", () => window.tabi?.ready || window.tabi?.error);
    return view;
  }

  ask(question, argument) {
    return this.page.evaluate(question, argument);
  }

  // As Playwright's waitForFunction, but it says what it waited for.
  until(what, question, argument) {
    return until(what, () => this.ask(question, argument));
  }

  // Two frames later all that was asked for is in the picture.
  drawn() {
    return this.ask(() => new Promise((resolve) =>
      requestAnimationFrame(() => requestAnimationFrame(() => resolve()))));
  }

  // How many pixels of the scene have a colour, more or less.
  pixels(colour) {
    return this.ask(async (rgb) => {
      const data = await window.look();
      let count = 0;
      for (let i = 0; i < data.length; i += 4)
        if (rgb.every((value, k) => Math.abs(value - data[i + k]) < 24)) ++count;
      return count;
    }, colour);
  }

  // The scene as it is, for changes().
  remember() {
    return this.ask(async () => {
      window.remembered = await window.look();
    });
  }

  // How many pixels have become others since remember().
  changes() {
    return this.ask(async () => {
      const [before, data] = [window.remembered, await window.look()];
      let count = 0;
      for (let i = 0; i < data.length; i += 4)
        if ([0, 1, 2].some((k) => Math.abs(before[i + k] - data[i + k]) > 8)) ++count;
      return count;
    });
  }

  // What a click or key makes the browser save: {name, bytes}.
  async saved(action) {
    const [download] = await Promise.all([this.page.waitForEvent("download"), action()]);
    return { name: download.suggestedFilename(), bytes: fs.readFileSync(await download.path()) };
  }
}

// `tabi view ... --no-browser`, until it is stopped.
class Server {
  static async start(...words) {
    const server = new Server();
    server.process = spawn(process.env.TABI, ["view", ...words, "--no-browser"]);
    server.said = "";
    for (const event of ["exit", "SIGTERM"]) process.once(event, () => server.process.kill());
    server.address = await new Promise((resolve, reject) => {
      server.process.stderr.on("data", (text) => (server.said += text));
      server.process.stdout.once("data", (text) => resolve(String(text).trim()));
      server.process.once("exit", (code) => reject(new Error(`exit ${code}: ${server.said}`)));
    });
    return server;
  }

  stop() {
    if (this.process.exitCode !== null) return null;
    const ended = new Promise((resolve) => this.process.once("exit", resolve));
    this.process.kill("SIGINT");
    return ended;
  }
}

module.exports = { Server, View, findChromium, launch, skipWithoutChromium, until };
