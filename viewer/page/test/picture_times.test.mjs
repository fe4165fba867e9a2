/* picture_times.test.mjs - a page is slow if its pictures come slowly while something is drawn, and
 * is told so once. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { PictureTimes } from "../src/picture_times.js";

/* How many times, and after how many pictures first, it is slow. */
function slow(count, seconds, drawn = () => true) {
  const times = new PictureTimes();
  const told = [];
  for (let i = 0; i < count; ++i) {
    times.add(1, seconds, drawn(i));
    if (times.isSlow) told.push(i);
  }
  return told;
}

test("fast pages are not slow, slow ones are so once", () => {
  assert.deepEqual(slow(200, 1 / 60), []);
  assert.equal(slow(200, 0.06).length, 1);
});

test("very slow ones are found out after a few pictures", () => {
  const told = slow(200, 0.6);
  assert.equal(told.length, 1);
  assert.ok(told[0] < 10);
});

test("one pause is no sign of a slow page", () => {
  const times = new PictureTimes();
  for (let i = 0; i < 100; ++i) {
    times.add(1, i === 10 ? 100 : 1 / 60, true);
    assert.ok(!times.isSlow);
  }
});

test("time in which nothing is drawn does not count", () => {
  assert.deepEqual(
    slow(400, 0.2, () => false),
    [],
  );
  assert.equal(slow(400, 0.2, (i) => i > 300).length, 1);
});
