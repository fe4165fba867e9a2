/* build.mjs - what vite leaves becomes one file: dist/index.html.
 *
 * Script and styles go inline, and the file says of itself what may run in it: the policy allows
 * the one script whose hash it names.  A second hash, over the sources, tells without Node whether
 * the committed page is what they would build (tools/check_page.py computes the same). */
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

const ROOT = new URL(".", import.meta.url).pathname;
const SOURCES = [
  "build.mjs",
  "index.html",
  "package-lock.json",
  "package.json",
  "src",
  "vite.config.mjs",
];
const LICENCES = ["three/LICENSE", "uplot/LICENSE", "lil-gui/LICENSE.md"];

function filesUnder(path) {
  if (!statSync(join(ROOT, path)).isDirectory()) return [path];
  return readdirSync(join(ROOT, path)).flatMap((name) => filesUnder(`${path}/${name}`));
}

/* The hash of "name length\n" and content of every source, in the order of their names. */
export function sourcesHash() {
  const hash = createHash("sha256");
  for (const path of SOURCES.flatMap(filesUnder).sort()) {
    const content = readFileSync(join(ROOT, path));
    hash.update(`${path} ${content.length}\n`);
    hash.update(content);
  }
  return hash.digest("hex");
}

/* They ask to be kept with every copy. */
function licences() {
  const texts = LICENCES.map((path) => {
    const text = readFileSync(join(ROOT, "node_modules", path), "utf8");
    return `${path.split("/")[0]}\n${text.replaceAll("\r", "").replaceAll("--", "-").trim()}`;
  });
  return `<!--\nThis page contains:\n\n${texts.join("\n\n")}\n-->`;
}

function policy(script) {
  const hash = createHash("sha256").update(script).digest("base64");
  return [
    "default-src 'none'",
    `script-src 'sha256-${hash}'`,
    "style-src 'unsafe-inline'",
    "connect-src 'self'",
    "img-src 'self' data: blob:",
    "media-src blob:",
    "font-src data:" /* the panel's arrows */,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
}

/* Text that may stand inside a script element: nothing in it may end the element, or begin what
 * HTML takes for a comment there. */
function inScript(code) {
  const text = code.trim().replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
  return text.replaceAll("\r", "");
}

function page(html, code, css) {
  const script = inScript(code);
  const head = [
    licences(),
    `<meta http-equiv="Content-Security-Policy" content="${policy(script)}">`,
    `<meta name="tabi-sources" content="${sourcesHash()}">`,
    `<style>${css.trim()}</style>`,
    `<script type="module">${script}</script>`,
  ].join("\n");
  /* the replacement is a function, for code is full of "$&" */
  return html
    .replaceAll(/<script[^>]*src=[^>]*><\/script>\s*/g, "")
    .replaceAll(/<link[^>]*rel="(stylesheet|modulepreload)"[^>]*>\s*/g, "")
    .replace("<!-- page -->", () => head);
}

export function oneFile() {
  return {
    name: "one-file",
    enforce: "post",
    generateBundle(options, bundle) {
      const parts = Object.values(bundle);
      const code = parts.filter((p) => p.type === "chunk");
      const css = parts.filter((p) => p.type === "asset" && p.fileName.endsWith(".css"));
      const html = parts.find((p) => p.fileName === "index.html");
      if (code.length !== 1) this.error(`the page has ${code.length} scripts; it must be one`);
      html.source = page(html.source, code[0].code, css.map((p) => p.source).join("\n"));
      for (const part of [...code, ...css]) delete bundle[part.fileName];
    },
  };
}
