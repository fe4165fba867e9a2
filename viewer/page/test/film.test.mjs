/* film.test.mjs - films are read as they were written, and refused when they are damaged; histories
 * forget their beginning and nothing else. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { CONTACT, Film, ROBOT } from "../src/film.js";
import { WEIGHT, makeFilm, makeStage } from "./fixture.mjs";

function load(bytes, limit) {
  const film = new Film(limit);
  film.append(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  return film;
}

test("every picture has the numbers of its moment", () => {
  const film = load(makeFilm(4));
  assert.equal(film.count, 201);
  assert.equal(film.end, 4);
  const picture = film.at(70);
  assert.equal(picture.time, 1.4);
  assert.equal(picture.step, 1400);
  assert.equal(picture.nlink, makeStage().links.length);
  assert.ok(Math.abs(picture.f32[picture.link(0)] - 0.25 * 1.4) < 1e-6);
  assert.equal(picture.ncontact, 4);
  assert.equal(picture.i32[picture.contact(3)], -1);
  assert.ok(Math.abs(picture.f32[picture.contact(3) + CONTACT.FORCE + 2] - WEIGHT / 4) < 1e-4);
  assert.equal(picture.i32[picture.robot(0) + ROBOT.NCORNER], 4);
  assert.equal(picture.signal(0), Math.fround(1.4));
  assert.equal(film.value(70, 0), Math.fround(1.4));
  assert.ok(Number.isNaN(film.value(70, 99)));
});

test("a time finds the last picture before it", () => {
  const film = load(makeFilm(1));
  assert.equal(film.find(-1), 0);
  assert.equal(film.find(0.019), 0);
  assert.equal(film.find(0.02), 1);
  assert.equal(film.find(0.999), 49);
  assert.equal(film.find(7), 50);
});

test("between pictures values lie on straight lines", () => {
  const film = load(makeFilm(1));
  assert.ok(Math.abs(film.valueAt(0.033, 0) - 0.033) < 1e-6);
  assert.equal(film.valueAt(0.04, 0), Math.fround(0.04));
  assert.equal(film.valueAt(1, 0), 1);
  assert.ok(Number.isNaN(film.valueAt(7, 0)) && Number.isNaN(film.valueAt(-1, 0)));
});

test("points of links follow their rotation", () => {
  const film = load(makeFilm(1));
  const { f32 } = film.at(0);
  const at = film.picture.link(0);
  f32.set([1, 2, 3, Math.SQRT1_2, 0, 0, Math.SQRT1_2], at); /* a quarter turn about z */
  const out = film.linkPoint(0, 0, { x: 1, y: 0, z: 0.5 }, {});
  assert.ok(
    Math.abs(out.x - 1) < 1e-6 && Math.abs(out.y - 3) < 1e-6 && Math.abs(out.z - 3.5) < 1e-6,
  );
});

test("a damaged film is refused with the place", () => {
  const good = makeFilm(0.1);
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
  const film = new Film({ pictures: 100, bytes: Infinity });
  const all = load(makeFilm(4));
  for (let i = 0; i < all.count; ++i) {
    const from = all.offsets[i];
    film.append(all.blocks[i].view.buffer.slice(from, from + all.sizes[i]));
  }
  assert.ok(film.count <= 100 && film.count > 80);
  assert.equal(film.end, 4);
  assert.equal(film.forgotten + film.count, 201);
  assert.equal(film.at(0).time, film.start);
  assert.equal(
    film.bytes,
    film.sizes.reduce((sum, size) => sum + size, 0),
  );
});
