/* labels.test.mjs - labels do not hide each other. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Labels } from "../src/labels.js";

function put(labels, places) {
  labels.begin();
  for (const [x, y, text] of places) labels.put({ x, y, z: 0, project() {} }, null, text);
  labels.end();
  return labels.pool.filter((label) => !label.hidden);
}

function makeLabels() {
  globalThis.document ??= { createElement: () => ({ style: {} }) };
  const labels = new Labels({ append() {} });
  labels.resize(1000, 1000);
  return labels;
}

const place = (label) => label.style.transform.match(/[\d.]+/g).map(Number);

test("labels at one place stand below each other, and stop where there are too many", () => {
  const labels = makeLabels();
  const shown = put(labels, Array(20).fill([0, 0, "1e-12"]));
  assert.ok(shown.length > 3 && shown.length < 20);
  const heights = shown.map((label) => place(label)[1]);
  for (let i = 1; i < heights.length; ++i) assert.ok(heights[i] - heights[i - 1] >= 14);
});

test("labels apart stay where they are", () => {
  const shown = put(makeLabels(), [
    [0, 0, "a"],
    [0.5, 0, "b"],
    [0, 0.5, "c"],
  ]);
  assert.deepEqual(shown.map(place), [
    [500, 500],
    [750, 500],
    [500, 250],
  ]);
});
