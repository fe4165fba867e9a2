/* source.js - where runs come from: the file itself, or the program that serves the page. */
import { Film } from "./film.js";

/* Kept of a live world: five minutes of 60 pictures each second. */
const LIVE_LIMIT = { pictures: 18000, bytes: 200e6 };

function decodeBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text).buffer;
  const binary = atob(text.trim());
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; ++i) bytes[i] = binary.charCodeAt(i);
  return bytes.buffer;
}

function runInFile(k) {
  const stage = document.getElementById(`tabi-stage-${k}`);
  const pictures = document.getElementById(`tabi-film-${k}`);
  if (!stage || !pictures) return null;
  const film = new Film();
  film.append(decodeBase64(pictures.textContent));
  pictures.remove(); /* megabytes of text that nobody reads again */
  return { stage: complete(JSON.parse(stage.textContent)), film };
}

async function get(path) {
  const answer = await fetch(path, { cache: "no-store" }).catch(() => null);
  if (!answer)
    throw new Error(
      "there is no film in this page, and no tabi serves it; start `tabi view` again",
    );
  return answer.ok ? answer : null;
}

async function runServed(k) {
  const answer = await get(`stage/${k}`);
  if (!answer) return null;
  const stage = complete(await answer.json());
  if (stage.live) return { stage, film: new Film(LIVE_LIMIT) };
  const film = new Film();
  const pictures = await get(`film/${k}`);
  if (!pictures) throw new Error(`tabi has no film of "${stage.title}"; start \`tabi view\` again`);
  film.append(await pictures.arrayBuffer());
  return { stage, film };
}

/* A stage whose lists are all there. */
export function complete(stage) {
  for (const list of ["links", "shapes", "meshes", "joints", "robots", "signals"])
    stage[list] ??= [];
  stage.settings ??= {};
  return stage;
}

/* What tells runs apart: their titles, or else their methods, or else their files. */
function nameRuns(runs) {
  const ways = [
    ({ title }) => title,
    ({ settings }) => settings.contact,
    ({ path }) => path,
    ({ title }, k) => `${title} ${k + 1}`,
  ];
  for (const way of ways) {
    const names = runs.map(({ stage }, k) => way(stage, k));
    runs.forEach((run, k) => (run.name = names[k]));
    if (new Set(names).size === runs.length) return;
  }
}

/* All runs: [{stage, film, name}], the one shown first.  A stage may say how many there are; otherwise
 * one after another is asked for until there is none. */
export async function loadRuns() {
  const load = document.getElementById("tabi-stage-0") ? runInFile : runServed;
  const runs = [];
  for (let k = 0, run; (run = await load(k)); ++k) {
    runs.push(run);
    if (run.stage.live || runs.length === runs[0].stage.runs) break;
  }
  if (!runs.length)
    throw new Error("there is no film in this page; write it with `tabi view LOG --html F`");
  nameRuns(runs);
  return runs;
}

export function socketAddress() {
  const address = new URL("ws", document.baseURI);
  address.protocol = "ws:";
  return address.href;
}
