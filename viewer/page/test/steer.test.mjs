import assert from "node:assert/strict";
import { test } from "node:test";

import { Steer, velocityOf } from "../src/steer.js";

test("arrows give shares of the limits", () => {
  assert.deepEqual(velocityOf(new Set(["ArrowUp"]), false), [0.75, 0, 0]);
  assert.deepEqual(velocityOf(new Set(["ArrowUp", "ArrowLeft"]), false), [0.75, 0, 1]);
  assert.deepEqual(velocityOf(new Set(["ArrowRight"]), true), [0, -1, 0]);
  assert.deepEqual(velocityOf(new Set(["ArrowDown"]), false), [-0.5, 0, 0]);
  assert.deepEqual(velocityOf(new Set(), false), [0, 0, 0]);
});

test("a key that repeats is sent once, and letting go stops", () => {
  const sent = [];
  const steer = new Steer((command) => sent.push(command));
  steer.down.add("ArrowUp");
  steer.tell(false);
  steer.tell(false);
  steer.stop();
  steer.stop();
  assert.deepEqual(sent, [
    { do: "walk", velocity: [0.75, 0, 0] },
    { do: "walk", velocity: [0, 0, 0] },
  ]);
});
