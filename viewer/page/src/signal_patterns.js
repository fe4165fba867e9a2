/* signal_patterns.js - which signals a pattern means: a name, a group ("com" for "com.x" and its
 * like), or a name with '*' for any text, as in `tabi plot`; and the default plots. */

function expression(pattern) {
  const escaped = pattern.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*");
  return new RegExp(`^(?:${escaped})(?:\\.[^.]*)?$`);
}

/* Indices of the signals meant. */
export function matchSignals(signals, pattern) {
  const exact = signals.findIndex((signal) => signal.name === pattern);
  if (exact >= 0) return [exact];
  const wanted = expression(pattern);
  return signals.flatMap((signal, i) => (wanted.test(signal.name) ? [i] : []));
}

/* Signals that share an axis: those of one unit. */
export function byUnit(signals, indices) {
  const groups = new Map();
  for (const i of indices) {
    const { unit } = signals[i];
    groups.set(unit, [...(groups.get(unit) ?? []), i]);
  }
  return [...groups.values()];
}

const DEFAULT_PLOTS = [
  ["ground.fz", "*ground.fz", "*.force.z", "*.fz"],
  ["zmp.y com.y", "*com.y *zmp.y", "com.y"],
  ["margin", "*margin"],
  ["com.z", "*com.z"],
  ["energy.kinetic", "energy", "energy.*"],
];
const MAX_PLOTS = 3;
const MAX_CURVES = 4;

/* Lists of indices, one for each plot; alive(signal) says whether there is anything to see. */
export function defaultPlots(signals, alive = () => true) {
  const plots = [];
  for (const choices of DEFAULT_PLOTS) {
    const found = choices
      .map((patterns) =>
        patterns
          .split(" ")
          .flatMap((pattern) => matchSignals(signals, pattern))
          .filter(alive),
      )
      .find((indices) => indices.length);
    if (found) plots.push(byUnit(signals, found)[0].slice(0, MAX_CURVES));
    if (plots.length === MAX_PLOTS) break;
  }
  if (!plots.length && signals.length) plots.push([signals.length > 1 ? 1 : 0]);
  return plots;
}
