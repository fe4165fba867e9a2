/* messages.js - errors and news, in the page, where they are seen.  Errors stay until dismissed. */

const NOTICE_MS = 6000;
const MAX_LINES = 5;

export class Messages {
  constructor(element) {
    this.element = element;
    this.last = "";
    window.addEventListener("error", (event) => this.error(event.message));
    window.addEventListener("unhandledrejection", (event) =>
      this.error(event.reason?.message ?? event.reason),
    );
  }

  error(text) {
    this.last = String(text);
    return this.add(text, "error");
  }

  notice(text) {
    const line = this.add(text, "notice");
    setTimeout(() => line.remove(), NOTICE_MS);
  }

  add(text, kind) {
    const same = [...this.element.children].find(
      (line) => line.firstChild.textContent === String(text),
    );
    if (same) return same;
    while (this.element.children.length >= MAX_LINES) this.element.firstChild.remove();
    const line = document.createElement("div");
    line.className = kind;
    const words = document.createElement("span");
    words.textContent = text;
    const close = document.createElement("button");
    close.textContent = "×";
    close.setAttribute("aria-label", "Dismiss");
    close.onclick = () => line.remove();
    line.append(words, close);
    this.element.append(line);
    return line;
  }
}
