/* plots.js - signals over time, in step with the picture.
 *
 * Every plot has the same range of time; a line marks the picture shown.  Dragging in a plot moves
 * through time, the wheel zooms, a double click shows all again.  Further runs are drawn dashed, and
 * on request the difference of the second from the first is drawn alone. */
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { CURVES, INK } from "./colours.js";
import { byUnit, matchSignals, defaultPlots } from "./signal_patterns.js";

const HEIGHT = 148;
const LIVE_WINDOW = 10; /* s */
const LIVE_REDRAW_MS = 100;
const VALUES_MS = 70;
const MAX_CURVES = 8;
const DASHES = [
  [6, 4],
  [2, 3],
  [8, 3, 2, 3],
]; /* of runs after the first */

const font = "11px system-ui, sans-serif";

function format(value) {
  if (value === null || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e5)) return value.toExponential(2);
  return value.toPrecision(4);
}

function axis(label) {
  return {
    stroke: INK,
    font,
    labelFont: font,
    labelGap: 0,
    gap: 3,
    grid: { stroke: "#e3e8ee", width: 1 },
    ticks: { stroke: "#c3ccd6", width: 1, size: 4 },
    label,
  };
}

export class Plots {
  /* runs: [{description, replay}]; seek(time): someone wants to see another picture. */
  constructor(element, input, runs, seek) {
    this.list = element;
    this.runs = runs;
    this.seek = seek;
    this.plots = [];
    this.range = null; /* [from, to] when zoomed */
    this.difference = false;
    this.redrawn = 0;
    this.told = 0;
    this.time = 0;
    this.due = false;
    this.visible = true;
    this.fillNames(input);
    for (const indices of defaultPlots(this.signals, (signal) => this.isAlive(signal)))
      this.add(indices);
    new ResizeObserver(() => this.resize()).observe(element);
  }

  get signals() {
    return this.runs[0].description.signals;
  }

  get live() {
    return this.runs[0].description.live;
  }

  fillNames(input) {
    const names = document.getElementById("signal-names");
    names.replaceChildren(
      ...this.signals.map(({ name, unit, about }) => {
        const option = document.createElement("option");
        option.value = name;
        option.label = unit ? `${about} [${unit}]` : about;
        return option;
      }),
    );
    input.form.onsubmit = (event) => {
      event.preventDefault();
      if (this.addPattern(input.value.trim())) input.value = "";
    };
    input.oninput = () => input.setCustomValidity("");
  }

  /* Whether a replay has other values of a signal than none and zero; of a live one it is unknown. */
  isAlive(signal) {
    const { replay } = this.runs[0];
    const some = Array.from({ length: 9 }, (_, k) => ((replay.count - 1) * k) >> 3);
    return replay.count < 2 || some.some((i) => Math.abs(replay.value(i, signal)) > 0);
  }

  /* One plot for each unit among what a pattern means. */
  addPattern(pattern) {
    const input = document.getElementById("signal");
    const found = matchSignals(this.signals, pattern);
    if (!found.length) {
      input.setCustomValidity("no signal has this name; * stands for any text");
      input.reportValidity();
      return false;
    }
    for (const group of byUnit(this.signals, found)) this.add(group.slice(0, MAX_CURVES));
    this.list.lastChild?.scrollIntoView({ block: "nearest" });
    return true;
  }

  /* Of a run, the index of a signal that the first run has at another place. */
  inRun(run, signal) {
    const { name } = this.signals[signal];
    return run.description.signals.findIndex((other) => other.name === name);
  }

  /* What the curves of a plot are: of which run, which signal; minus that of the first run. */
  curves(indices) {
    if (this.difference && this.runs.length > 1) {
      return indices.map((signal, k) => ({
        run: 1,
        signal,
        minus: true,
        colour: CURVES[k % CURVES.length],
        label: `Δ ${this.signals[signal].name}`,
      }));
    }
    /* two runs are told apart by dashes, more by colours, too */
    const apart = this.runs.length > 2 ? indices.length : 0;
    return this.runs.flatMap((run, r) =>
      indices.map((signal, k) => ({
        run: r,
        signal,
        minus: false,
        colour: CURVES[(k + r * apart) % CURVES.length],
        dash: r ? DASHES[(r - 1) % DASHES.length] : undefined,
        label: this.signals[signal].name + (r ? ` (${run.name})` : ""),
      })),
    );
  }

  add(indices) {
    const box = document.createElement("section");
    box.className = "plot";
    const plot = { indices, box, chart: null };
    this.plots.push(plot);
    this.list.append(box);
    this.build(plot);
  }

  remove(plot) {
    plot.chart.destroy();
    plot.box.remove();
    this.plots = this.plots.filter((other) => other !== plot);
  }

  build(plot) {
    plot.chart?.destroy();
    plot.box.replaceChildren();
    plot.curves = this.curves(plot.indices);
    this.buildHead(plot);
    const unit = this.signals[plot.indices[0]].unit;
    const options = {
      width: this.width(),
      height: HEIGHT,
      legend: { show: false },
      hooks: { draw: [() => (this.placed = NaN)] } /* the line stands elsewhere now */,
      padding: [6, 14, 0, 0],
      cursor: { drag: { x: false, y: false }, y: false, points: { show: false } },
      scales: {
        x: { time: false, range: () => this.shown() },
        y: { range: (u, low, high) => atLeast(low, high) },
      },
      axes: [
        { ...axis(), size: 24, space: 60 },
        {
          ...axis(unit || undefined),
          size: 50,
          labelSize: 14,
          space: 26,
          values: (u, v) => ticks(v),
        },
      ],
      series: [
        {},
        ...plot.curves.map(({ colour, dash }) => ({
          stroke: colour,
          width: 1.4,
          dash,
          points: { show: false },
        })),
      ],
    };
    plot.chart = new uPlot(options, this.data(plot), plot.box);
    plot.line = document.createElement("div");
    plot.line.className = "now";
    plot.chart.over.append(plot.line);
    this.listen(plot.chart);
  }

  buildHead(plot) {
    const head = document.createElement("header");
    plot.values = plot.curves.map(({ colour, label, dash, signal }) => {
      const item = document.createElement("span");
      item.style.color = colour;
      item.title = this.signals[signal].about;
      const value = document.createElement("b");
      item.append(`${dash ? "┄" : "━"} ${label} `, value);
      head.append(item);
      return value;
    });
    const close = document.createElement("button");
    close.textContent = "×";
    close.title = "Remove this plot";
    close.onclick = () => this.remove(plot);
    head.append(close);
    plot.box.append(head);
  }

  listen(chart) {
    const timeAt = (event) =>
      chart.posToVal(event.clientX - chart.over.getBoundingClientRect().left, "x");
    chart.over.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      chart.over.setPointerCapture(event.pointerId);
      this.seek(timeAt(event));
    });
    chart.over.addEventListener("pointermove", (event) => {
      if (chart.over.hasPointerCapture(event.pointerId)) this.seek(timeAt(event));
    });
    chart.over.addEventListener("dblclick", () => this.zoom(null));
    chart.over.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        const [from, to] = this.shown();
        const about = timeAt(event);
        const by = Math.exp(0.0015 * event.deltaY);
        this.zoom([about - (about - from) * by, about + (to - about) * by]);
      },
      { passive: false },
    );
  }

  zoom(range) {
    const { start, end } = this.whole();
    this.range = range && [Math.max(range[0], start), Math.min(range[1], end)];
    this.redraw();
  }

  whole() {
    const replays = this.runs.map((run) => run.replay).filter((replay) => replay.count);
    if (!replays.length) return { start: 0, end: 1 };
    return {
      start: Math.min(...replays.map((f) => f.start)),
      end: Math.max(...replays.map((f) => f.end)),
    };
  }

  /* The range of time on the axes.  Of a live world it is its last seconds, or those around a
   * moment of its past. */
  shown() {
    if (this.range) return this.range;
    const { start, end } = this.whole();
    if (!this.live) return [start, end > start ? end : start + 1];
    const past = this.time < end - LIVE_WINDOW;
    const to = Math.max(past ? this.time + LIVE_WINDOW / 2 : end, start + LIVE_WINDOW);
    return [to - LIVE_WINDOW, to];
  }

  /* Columns for a chart: times, then values; several runs are joined, since their times differ. */
  data(plot) {
    const [from, to] = this.shown();
    const tables = this.runs.map((run, r) => {
      const curves = plot.curves.filter((curve) => curve.run === r);
      const { replay } = run;
      if (!replay.count) return [[], ...curves.map(() => [])];
      const first = Math.max(replay.find(from) - 1, 0);
      const last = Math.min(replay.find(to) + 1, replay.count - 1);
      const times = replay.times.slice(first, last + 1);
      return [times, ...curves.map((curve) => this.column(curve, first, last))];
    });
    const used = tables.filter((table, r) => r === 0 || table.length > 1);
    if (plot.curves.some((curve) => curve.minus)) return tables[1];
    return used.length > 1 ? uPlot.join(used) : tables[0];
  }

  column({ run, signal, minus }, first, last) {
    const { replay } = this.runs[run];
    const at = run === 0 ? signal : this.inRun(this.runs[run], signal);
    const base = this.runs[0].replay;
    const values = new Array(last - first + 1);
    for (let i = first; i <= last; ++i) {
      let value = replay.value(i, at);
      if (minus) value -= base.valueAt(replay.times[i], signal);
      values[i - first] = Number.isFinite(value) ? value : null;
    }
    return values;
  }

  redraw() {
    for (const plot of this.plots) plot.chart.setData(this.data(plot));
  }

  rebuild() {
    for (const plot of this.plots) this.build(plot);
  }

  setDifference(on) {
    this.difference = on;
    this.rebuild();
  }

  width() {
    return Math.max(this.list.clientWidth - 16, 120);
  }

  /* Sizes are asked for here and not for every picture, when the browser would have to lay out. */
  resize() {
    this.visible = this.list.clientWidth > 0;
    if (!this.visible) return;
    for (const plot of this.plots) plot.chart.setSize({ width: this.width(), height: HEIGHT });
  }

  /* For every picture: the line, now and then the numbers, and the curves when pictures came. */
  update(time, now, grown) {
    if (!this.visible) return;
    this.time = time;
    this.follow(now, grown);
    if (time === this.placed) return;
    this.placed = time;
    for (const { chart, line } of this.plots) {
      const x = chart.valToPos(time, "x");
      line.style.transform = `translateX(${x.toFixed(1)}px)`;
      line.hidden = x < 0 || x > chart.bbox.width / uPlot.pxRatio;
    }
    if (now - this.told < VALUES_MS) {
      this.placed = NaN;
      return;
    }
    this.told = now;
    this.tellValues(time);
  }

  /* Curves of a live world, when there is more of them or another part of them is looked at. */
  follow(now, grown) {
    if (!this.live || this.range) return;
    const [from] = this.shown();
    this.due ||= grown || from !== this.from;
    if (!this.due || now - this.redrawn < LIVE_REDRAW_MS) return;
    this.due = false;
    this.from = from;
    this.redrawn = now;
    this.redraw();
  }

  tellValues(time) {
    for (const plot of this.plots) {
      plot.curves.forEach((curve, k) => {
        const { replay } = this.runs[curve.run];
        if (!replay.count) return;
        const i = replay.find(time);
        const [value] = this.column(curve, i, i);
        plot.values[k].textContent = format(value);
      });
    }
  }
}

/* The range of values, but no narrower than a twentieth of them: noise is not to fill a plot. */
function atLeast(low, high) {
  if (low === null) return [0, 1];
  const missing = 0.05 * Math.max(Math.abs(low), Math.abs(high)) - (high - low);
  const more = Math.max(missing, 0) / 2;
  return uPlot.rangeNum(low - more, high + more, 0.1, true);
}

/* Numbers along an axis, with as many digits as tell them apart. */
export function ticks(values) {
  const largest = Math.max(...values.map(Math.abs));
  const step = Math.abs(values.at(-1) - values[0]) / Math.max(values.length - 1, 1) || largest;
  const digits = Math.min(Math.max(Math.ceil(Math.log10(largest / step) - 1e-9) + 1, 1), 9) || 1;
  const long = largest !== 0 && (largest < 1e-3 || largest >= 1e5);
  return values.map((value) => {
    if (value === 0) return "0";
    return long ? exponential(value, digits) : String(Number(value.toPrecision(digits + 1)));
  });
}

/* 8.20e-5 as 8.2e-5 */
function exponential(value, digits) {
  return value.toExponential(digits - 1).replace(/\.?0*e/, "e");
}
