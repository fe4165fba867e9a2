/* replay.test.mjs - replays are read as they were written, and refused when they are damaged; histories
 * forget their beginning and nothing else. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { CONTACT, Replay, ROBOT } from "../src/replay.js";
import { WEIGHT, makeReplay, makeDescription } from "./fixture.mjs";

function load(bytes, limit) {
  const replay = new Replay(limit);
  replay.append(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  return replay;
}

test("every picture has the numbers of its moment", () => {
  const replay = load(makeReplay(4));
  assert.equal(replay.count, 201);
  assert.equal(replay.end, 4);
  const picture = replay.at(70);
  assert.equal(picture.time, 1.4);
  assert.equal(picture.step, 1400);
  assert.equal(picture.nlink, makeDescription().links.length);
  assert.ok(Math.abs(picture.f32[picture.link(0)] - 0.25 * 1.4) < 1e-6);
  assert.equal(picture.ncontact, 4);
  assert.equal(picture.i32[picture.contact(3)], -1);
  assert.ok(Math.abs(picture.f32[picture.contact(3) + CONTACT.FORCE + 2] - WEIGHT / 4) < 1e-4);
  assert.equal(picture.i32[picture.robot(0) + ROBOT.NCORNER], 4);
  assert.equal(picture.signal(0), Math.fround(1.4));
  assert.equal(replay.value(70, 0), Math.fround(1.4));
  assert.ok(Number.isNaN(replay.value(70, 99)));
});

test("a time finds the last picture before it", () => {
  const replay = load(makeReplay(1));
  assert.equal(replay.find(-1), 0);
  assert.equal(replay.find(0.019), 0);
  assert.equal(replay.find(0.02), 1);
  assert.equal(replay.find(0.999), 49);
  assert.equal(replay.find(7), 50);
});

test("between pictures values lie on straight lines", () => {
  const replay = load(makeReplay(1));
  assert.ok(Math.abs(replay.valueAt(0.033, 0) - 0.033) < 1e-6);
  assert.equal(replay.valueAt(0.04, 0), Math.fround(0.04));
  assert.equal(replay.valueAt(1, 0), 1);
  assert.ok(Number.isNaN(replay.valueAt(7, 0)) && Number.isNaN(replay.valueAt(-1, 0)));
});

test("points of links follow their rotation", () => {
  const replay = load(makeReplay(1));
  const { f32 } = replay.at(0);
  const at = replay.picture.link(0);
  f32.set([1, 2, 3, Math.SQRT1_2, 0, 0, Math.SQRT1_2], at); /* a quarter turn about z */
  const out = replay.linkPoint(0, 0, { x: 1, y: 0, z: 0.5 }, {});
  assert.ok(
    Math.abs(out.x - 1) < 1e-6 && Math.abs(out.y - 3) < 1e-6 && Math.abs(out.z - 3.5) < 1e-6,
  );
});

test("a damaged replay is refused with the place", () => {
  const good = makeReplay(0.1);
  const size = good.readUInt32LE(4);
  const bad = Buffer.from(good);
  bad[size] ^= 1;
  assert.throws(() => load(bad), new RegExp(`damaged at byte ${size}`));
  assert.throws(() => load(good.subarray(0, good.length - 4)), /damaged/);
  const counts = Buffer.from(good);
  counts.writeUInt32LE(1e9, 32);
  assert.throws(() => load(counts), /disagree/);
});

test("a live history forgets its beginning when it is full", () => {
  const replay = new Replay({ pictures: 100, bytes: Infinity });
  const all = load(makeReplay(4));
  for (let i = 0; i < all.count; ++i) {
    const from = all.offsets[i];
    replay.append(all.blocks[i].view.buffer.slice(from, from + all.sizes[i]));
  }
  assert.ok(replay.count <= 100 && replay.count > 80);
  assert.equal(replay.end, 4);
  assert.equal(replay.forgotten + replay.count, 201);
  assert.equal(replay.at(0).time, replay.start);
  assert.equal(
    replay.bytes,
    replay.sizes.reduce((sum, size) => sum + size, 0),
  );
});
