/* player.test.mjs - replays play, stop and are stepped through; a live world is told what to do, and
 * its past can be looked at while it is paused. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { byUnit, matchSignals, defaultPlots } from "../src/signal_patterns.js";
import { Replay } from "../src/replay.js";
import { Player } from "../src/player.js";
import { makeReplay, makeDescription } from "./fixture.mjs";

function fixture(seconds = 1) {
  const bytes = makeReplay(seconds);
  const replay = new Replay();
  replay.append(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  return replay;
}

test("a replay plays at its speed, stops at its end and begins anew", () => {
  const player = new Player(fixture(), null);
  player.play();
  player.setSpeed(1 / 4);
  player.advance(0.2);
  assert.ok(Math.abs(player.time - 0.05) < 1e-12);
  player.setSpeed(8);
  for (let i = 0; i < 5; ++i) player.advance(0.1);
  assert.equal(player.time, 1);
  assert.equal(player.playing, false);
  player.play();
  assert.equal(player.time, 0);
});

test("steps go picture by picture and stay in the replay", () => {
  const player = new Player(fixture(), null);
  player.step(3);
  assert.equal(player.index, 3);
  player.step(-10);
  assert.equal(player.index, 0);
  player.seek(9);
  player.step(1);
  assert.equal(player.index, 50);
});

test("speeds stay within 1/32 and 8", () => {
  const player = new Player(fixture(), null);
  player.faster(-99);
  assert.equal(player.speed, 1 / 32);
  player.faster(99);
  assert.equal(player.speed, 8);
});

test("a live world is paused before its past is looked at, and steps at its end only", () => {
  const sent = [];
  const player = new Player(fixture(), { send: (command) => sent.push(command.do) });
  player.received(false);
  assert.equal(player.time, 1);
  player.seek(0.5);
  assert.deepEqual(sent, ["pause"]);
  player.received(false); /* a picture that was on its way */
  assert.equal(player.time, 0.5);
  player.step(1);
  assert.deepEqual(sent, ["pause"]);
  player.seek(1);
  player.step(1);
  assert.deepEqual(sent, ["pause", "step"]);
  player.play();
  assert.deepEqual(sent, ["pause", "step", "play"]);
  assert.equal(player.time, 1);
  sent.length = 0;
  player.seek(0.94);
  player.step(10); /* three pictures are there */
  assert.deepEqual(sent, ["pause", ...Array(7).fill("step")]);
});

test("a world that paused by itself is shown as paused", () => {
  const player = new Player(fixture(), { send() {} });
  player.received(true);
  assert.equal(player.playing, false);
  player.received(false);
  assert.equal(player.playing, true);
});

test("patterns mean names, groups and anything", () => {
  const { signals } = makeDescription();
  const names = (pattern) => matchSignals(signals, pattern).map((i) => signals[i].name);
  assert.deepEqual(names("com.y"), ["com.y"]);
  assert.deepEqual(names("com"), ["com.y", "com.z"]);
  assert.deepEqual(names("*.y"), ["com.y", "zmp.y"]);
  assert.deepEqual(names("c+m"), []);
  assert.deepEqual(
    byUnit(signals, matchSignals(signals, "*")).map((group) => signals[group[0]].unit),
    ["s", "m", "N"],
  );
  assert.equal(defaultPlots(signals).length, 3);
  assert.deepEqual(defaultPlots([]), []);
});
