/* load_runs.js - where runs come from: the file itself, or the program that serves the page. */
import { decodeBase64 } from "./mesh_geometry.js";
import { Replay } from "./replay.js";

/* Kept of a live world: five minutes of 60 pictures each second. */
const LIVE_LIMIT = { pictures: 18000, bytes: 200e6 };

function runInFile(k) {
  const description = document.getElementById(`tabi-scene-${k}`);
  const pictures = document.getElementById(`tabi-replay-${k}`);
  if (!description || !pictures) return null;
  const replay = new Replay();
  replay.append(decodeBase64(pictures.textContent));
  pictures.remove(); /* megabytes of text that are not needed again */
  return { description: complete(JSON.parse(description.textContent)), replay };
}

async function get(path) {
  const answer = await fetch(path, { cache: "no-store" }).catch(() => null);
  if (!answer)
    throw new Error(
      "this page contains no replay, and no tabi serves it; start `tabi view` again",
    );
  return answer.ok ? answer : null;
}

async function runServed(k) {
  const answer = await get(`scene/${k}`);
  if (!answer) return null;
  const description = complete(await answer.json());
  if (description.live) return { description, replay: new Replay(LIVE_LIMIT) };
  const replay = new Replay();
  const pictures = await get(`replay/${k}`);
  if (!pictures)
    throw new Error(`tabi has no replay of "${description.title}"; start \`tabi view\` again`);
  replay.append(await pictures.arrayBuffer());
  return { description, replay };
}

/* Adds the lists that a description of a scene lacks. */
export function complete(description) {
  for (const list of ["links", "shapes", "meshes", "joints", "robots", "signals"])
    description[list] ??= [];
  description.settings ??= {};
  return description;
}

/* What tells runs apart: their titles, or else their methods, or else their files. */
function nameRuns(runs) {
  const candidates = [
    ({ title }) => title,
    ({ settings }) => settings.contact,
    ({ path }) => path,
    ({ title }, k) => `${title} ${k + 1}`,
  ];
  for (const nameOf of candidates) {
    const names = runs.map(({ description }, k) => nameOf(description, k));
    runs.forEach((run, k) => (run.name = names[k]));
    if (new Set(names).size === runs.length) return;
  }
}

/* All runs: [{description, replay, name}], the one shown first.  A description may say how many runs
 * there are; otherwise one after another is asked for until there is none. */
export async function loadRuns() {
  const load = document.getElementById("tabi-scene-0") ? runInFile : runServed;
  const runs = [];
  for (let k = 0, run; (run = await load(k)); ++k) {
    runs.push(run);
    if (run.description.live || runs.length === runs[0].description.runs) break;
  }
  if (!runs.length)
    throw new Error("this page contains no replay; write one with `tabi view LOG --html F`");
  nameRuns(runs);
  return runs;
}

export function socketAddress() {
  const address = new URL("ws", document.baseURI);
  address.protocol = "ws:";
  return address.href;
}
