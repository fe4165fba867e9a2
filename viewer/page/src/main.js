/* main.js - the page of tabi's viewer begins here: runs are loaded, and shown. */
import "./style.css";
import { hooks } from "./hooks.js";
import { Messages } from "./messages.js";
import { loadRuns } from "./load_runs.js";
import { Viewer } from "./viewer.js";

async function main() {
  const messages = new Messages(document.getElementById("messages"));
  try {
    const viewer = new Viewer(await loadRuns(), messages);
    window.tabi = hooks(viewer, messages);
    viewer.start();
  } catch (error) {
    document.getElementById("waiting").hidden = true;
    messages.error(error.message);
    window.tabi = { ready: false, error: error.message };
  }
}

main();
