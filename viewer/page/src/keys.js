/* keys.js - the keyboard, and the list of keys that "?" shows. */

const WORDS = [
  ["Space", "play, pause"],
  ["→  ←", "one step forward (replay: one picture), one picture back; with Shift ten"],
  ["↑ ↓ ← →", "live, a robot that walks by a velocity: forward, back, turn; with Shift sideways"],
  ["-  =", "slower, faster: 1/32 to 8"],
  ["Backspace", "back to the start"],
  ["Home  End", "first and last picture"],
  ["F", "fit the camera"],
  ["C", "camera follows the robot"],
  ["P  H", "plots, panel"],
  ["S  V", "screenshot (PNG), record a video (WebM)"],
  ["drag", "background: orbit; right button: pan; wheel: zoom"],
  ["drag a body", "live: pull it with a damped spring; Shift 4 times, Ctrl+Shift 16 times as stiff"],
  ["plot", "click or drag: go there; wheel: zoom; double click: all"],
  ["?", "this list"],
];

const PRESSED = "button, input[type=checkbox]";

export function listKeys(element) {
  for (const [key, words] of WORDS) {
    const term = document.createElement("dt");
    const text = document.createElement("dd");
    term.textContent = key;
    text.textContent = words;
    element.append(term, text);
  }
}

/* table: {key: (event) => ...}, keys as KeyboardEvent.key, letters in lower case. */
export function listenKeys(table) {
  /* who clicks wants the keys for the player again; who came by Tab wants them for the button */
  window.addEventListener("click", (event) => {
    if (event.detail > 0 && event.target.matches?.(PRESSED)) event.target.blur();
  });
  window.addEventListener("keydown", (event) => {
    const typing = event.target.matches?.(
      "input:not([type=range]):not([type=checkbox]), select, textarea",
    );
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    if ((event.key === " " || event.key === "Enter") && event.target.matches?.(PRESSED)) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (!table[key]) return;
    event.preventDefault();
    table[key](event);
  });
}
