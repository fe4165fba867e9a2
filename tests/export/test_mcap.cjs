// What `tabi export` writes as MCAP, read by the format's own library: the container is sound down to
// its checksums, messages follow their schemas, and their numbers are those of the log to the last
// bit.  Those are taken from a CSV file of the same log, whose digits bring back every number.
"use strict";

const assert = require("node:assert/strict");
const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { after, before, test } = require("node:test");

const { crc32 } = require("@foxglove/crc");
const { parse } = require("@foxglove/rosmsg");
const { MessageReader } = require("@foxglove/rosmsg2-serialization");
const { McapIndexedReader, McapStreamReader } = require("@mcap/core");
const { decompress } = require("fzstd");

const root = path.join(__dirname, "..", "..");
const decompressHandlers = { zstd: (bytes, size) => decompress(bytes, new Uint8Array(Number(size))) };
let folder, pair, humanoid;

const tabi = (...words) => execFileSync(process.env.TABI, words, { encoding: "utf8" });

// Rows of a CSV file without quoted numbers, as objects; what is empty is not a number.
function readCsv(file) {
  const [head, ...rows] = fs.readFileSync(file, "utf8").trimEnd().split("\n");
  const names = [...head.matchAll(/"((?:[^"]|"")*)"|([^,]+)/g)].map((m) =>
    m[1] === undefined ? m[2] : m[1].replaceAll('""', '"'));
  return rows.map((row) => {
    const cells = row.split(",");
    assert.equal(cells.length, names.length);
    return Object.fromEntries(names.map((n, i) => [n, cells[i] === "" ? NaN : Number(cells[i])]));
  });
}

async function readMcap(file) {
  const bytes = fs.readFileSync(file);
  const readable = {
    size: async () => BigInt(bytes.length),
    read: async (offset, length) => bytes.subarray(Number(offset), Number(offset + length)),
  };
  const reader = await McapIndexedReader.Initialize({ readable, decompressHandlers });
  const decoders = new Map();
  for (const schema of reader.schemasById.values()) {
    assert.equal(schema.encoding, "ros2msg");
    const types = parse(new TextDecoder().decode(schema.data), { ros2: true });
    decoders.set(schema.id, new MessageReader(types));
  }
  const topics = new Map();
  for await (const message of reader.readMessages({ validateCrcs: true })) {
    const channel = reader.channelsById.get(message.channelId);
    if (!topics.has(channel.topic)) topics.set(channel.topic, []);
    const value = decoders.get(channel.schemaId).readMessage(message.data);
    topics.get(channel.topic).push({ time: message.logTime, value });
  }
  const types = new Map([...reader.channelsById.values()].map((c) =>
    [c.topic, reader.schemasById.get(c.schemaId).name]));
  return { bytes, reader, topics, types };
}

async function exportScene(scene, name, ...words) {
  const log = path.join(folder, `${name}.tabi`);
  tabi("run", path.join(root, scene), "--log", log, ...words);
  tabi("export", log, "-o", path.join(folder, `${name}.csv`));
  tabi("export", log, "-o", path.join(folder, `${name}.mcap`));
  const rows = readCsv(path.join(folder, `${name}.csv`));
  return { log, rows, ...(await readMcap(path.join(folder, `${name}.mcap`))) };
}

// The row of the sample in which a message was.
const rowAt = (file, time) => {
  const row = file.rows.find((r) => BigInt(Math.round(r.time * 1e9)) === time);
  assert.ok(row, `no sample at ${time} ns`);
  return row;
};

function* messages(file, topic) {
  assert.ok(file.topics.has(topic), `${topic} in ${[...file.topics.keys()]}`);
  for (const { time, value } of file.topics.get(topic)) {
    if (value.header) {
      const { sec, nsec } = value.header.stamp;
      assert.equal(BigInt(sec) * 1000000000n + BigInt(nsec), time);
    }
    yield [rowAt(file, time), value];
  }
}

// v turned by the quaternion q
function turn(q, v) {
  const cross = (a, b) =>
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const axis = [q.x, q.y, q.z];
  const once = cross(axis, v).map((c, i) => c + q.w * v[i]);
  return cross(axis, once).map((c, i) => v[i] + 2 * c);
}

const vector = ({ x, y, z }) => [x, y, z];

function assertNear(actual, wanted, tolerance, what) {
  assert.equal(actual.length, wanted.length);
  actual.forEach((a, i) =>
    assert.ok(Math.abs(a - wanted[i]) <= tolerance, `${what}: ${actual} is not ${wanted}`));
}

before(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), "tabi-"));
  pair = await exportScene("tests/export/data/pair.yaml", "pair");
  humanoid = await exportScene("scenes/stand.yaml", "stand", "--time", "0.3");
});

after(() => fs.rmSync(folder, { recursive: true }));

test("every record is sound, and the statistics count them", () => {
  const reader = new McapStreamReader({ decompressHandlers, includeChunks: true });
  const counts = {};
  const channels = new Map();
  reader.append(humanoid.bytes);
  for (let record; (record = reader.nextRecord()); ) {
    counts[record.type] = (counts[record.type] ?? 0) + 1;
    if (record.type === "Message")
      channels.set(record.channelId, (channels.get(record.channelId) ?? 0n) + 1n);
    if (record.type === "Header") assert.equal(record.profile, "ros2");
    if (record.type === "Chunk") assert.notEqual(record.uncompressedCrc, 0);
    if (record.type === "Footer") assert.notEqual(record.summaryCrc, 0);
  }
  assert.ok(reader.done());
  const { statistics } = humanoid.reader;
  assert.ok(counts.Chunk > 1, "several chunks");
  assert.equal(statistics.chunkCount, counts.Chunk);
  assert.equal(statistics.messageCount, BigInt(counts.Message));
  assert.deepEqual(new Map(statistics.channelMessageCounts), channels);
  assert.equal(statistics.messageStartTime, 0n);
  assert.equal(statistics.messageEndTime, 300000000n);
  // found by the indexes, too
  const indexed = [...humanoid.topics.values()].reduce((sum, list) => sum + list.length, 0);
  assert.equal(indexed, counts.Message);
});

test("the checksum of the data section is right", () => {
  // a data end has 13 bytes and stands before the summary
  const start = Number(humanoid.reader.footer.summaryStart) - 13;
  assert.equal(humanoid.bytes[start], 0x0f);
  assert.equal(humanoid.reader.dataSectionCrc, crc32(humanoid.bytes.subarray(0, start)));
});

test("a flipped byte is noticed by readers", () => {
  // in a chunk: indexes between chunks have no checksum
  const bytes = Uint8Array.from(humanoid.bytes);
  const chunk = humanoid.reader.chunkIndexes[0];
  bytes[Number(chunk.chunkStartOffset + chunk.chunkLength / 2n)] ^= 1;
  const reader = new McapStreamReader({ decompressHandlers });
  assert.throws(() => {
    reader.append(bytes);
    while (reader.nextRecord());
  });
});

test("metadata tell how the log was made", async () => {
  for await (const record of pair.reader.readMetadata({ name: "tabi" })) {
    assert.equal(record.metadata.get("scene"), 'a pair, and "boxes"');
    assert.equal(record.metadata.get("contact"), "cone");
    assert.equal(Number(record.metadata.get("timestep")), 1e-3);
    return;
  }
  assert.fail("no metadata");
});

test("joint states have the positions, velocities and efforts of the log", () => {
  const cases = [[humanoid, "/joint_states", "robot"], [pair, "/a/joint_states", "a"],
    [pair, "/b/joint_states", "b"]];
  for (const [file, topic, robot] of cases) {
    assert.equal(file.types.get(topic), "sensor_msgs/msg/JointState");
    assert.equal(file.topics.get(topic).length, file.rows.length);
    const joints = Object.keys(file.rows[0])
      .filter((n) => n.startsWith(`${robot}/`) && n.endsWith(".v"))
      .map((n) => n.slice(robot.length + 1, -2));
    for (const [row, state] of messages(file, topic)) {
      assert.deepEqual(state.name, joints);
      assert.deepEqual([...state.position], joints.map((j) => row[`${robot}/${j}.q`]));
      assert.deepEqual([...state.velocity], joints.map((j) => row[`${robot}/${j}.v`]));
      assert.deepEqual([...state.effort], joints.map((j) => row[`${robot}/${j}.effort`]));
    }
  }
  // a robot that stands needs its knees
  assert.ok(humanoid.topics.get("/joint_states").at(-1).value.effort.some((e) => Math.abs(e) > 1));
  assert.ok(humanoid.topics.get("/joint_states")[0].value.name.includes("l_knee"));
});

test("the robot's description is the text of its URDF", () => {
  assert.equal(humanoid.types.get("/robot_description"), "std_msgs/msg/String");
  const [message, ...more] = humanoid.topics.get("/robot_description");
  assert.equal(more.length, 0);
  assert.equal(message.value.data,
    fs.readFileSync(path.join(root, "models", "humanoid36.urdf"), "utf8"));
  for (const robot of ["a", "b"]) assert.ok(pair.topics.has(`/${robot}/robot_description`));
});

test("tf has every link in every sample, where the log has it", () => {
  for (const [file, named] of [[humanoid, (n) => n.replace("robot/", "")], [pair, (n) => n]]) {
    assert.equal(file.types.get("/tf"), "tf2_msgs/msg/TFMessage");
    assert.equal(file.topics.get("/tf").length, file.rows.length);
    const links = Object.keys(file.rows[0])
      .filter((n) => n.endsWith(".slip")).map((n) => n.slice(0, -5));
    assert.ok(links.length > 5);
    for (const [row, { transforms }] of messages(file, "/tf")) {
      const found = new Map(transforms.map((t) => [t.child_frame_id, t]));
      assert.equal(found.size, transforms.length, "each once");
      for (const link of links) {
        const { header, transform } = found.get(named(link));
        const { translation: t, rotation: r } = transform;
        assert.equal(header.frame_id, "world");
        assertNear([t.x, t.y, t.z, r.w, r.x, r.y, r.z],
          ["x", "y", "z", "qw", "qx", "qy", "qz"].map((p) => row[`${link}.${p}`]), 0, link);
      }
    }
  }
});

test("wrenches of contacts push where the log says, and their moments give the ZMP", () => {
  let pushed = 0;
  for (const robot of ["a", "b"]) {
    const topic = `/${robot}/contact/foot_1`;
    const link = `${robot}/foot-1`;
    for (const [row, { header, wrench }] of messages(pair, topic)) {
      assert.equal(header.frame_id, link);
      const q = { w: row[`${link}.qw`], x: row[`${link}.qx`], y: row[`${link}.qy`], z: row[`${link}.qz`] };
      const [fx, fy, fz] = turn(q, vector(wrench.force));
      const torque = turn(q, vector(wrench.torque));
      assertNear([fx, fy, fz], ["fx", "fy", "fz"].map((p) => row[`${link}.${p}`]), 1e-9, topic);
      if (fz < 1) continue;
      // with no moment about x and y at (x, y, z); the log has points to 24 bits
      const z = row[`${robot}.zmp.z`] - row[`${link}.z`];
      const x = row[`${link}.x`] + (z * fx - torque[1]) / fz;
      const y = row[`${link}.y`] + (z * fy + torque[0]) / fz;
      assertNear([x, y], [row[`${robot}.zmp.x`], row[`${robot}.zmp.y`]], 1e-5, "zmp");
      ++pushed;
    }
  }
  assert.ok(pushed > 300);
  assert.ok(pair.topics.has("/contact/box"));
  assert.ok(![...pair.topics.keys()].some((t) => t.includes("box_")), "it never lands");
  assert.equal(pair.types.get("/contact/box"), "geometry_msgs/msg/WrenchStamped");
});

test("sensors read as in the log, in frames of their own", () => {
  assert.equal(pair.types.get("/a/sensor/gyro"), "sensor_msgs/msg/Imu");
  for (const [row, imu] of messages(pair, "/a/sensor/gyro")) {
    assert.equal(imu.header.frame_id, "a/trunk/gyro");
    assert.deepEqual(vector(imu.angular_velocity), ["wx", "wy", "wz"].map((p) => row[`a/gyro.${p}`]));
    assert.deepEqual(vector(imu.linear_acceleration), ["ax", "ay", "az"].map((p) => row[`a/acc.${p}`]));
    assert.equal(imu.orientation_covariance[0], -1);
    const diagonal = [0, 4, 8].map((i) => imu.angular_velocity_covariance[i]);
    assertNear(diagonal, [1e-4, 4e-4, 9e-4], 1e-15, "covariance");
  }
  for (const [row, imu] of messages(pair, "/a/sensor/alone")) {
    assert.equal(imu.header.frame_id, "a/foot-1");
    assert.equal(imu.angular_velocity_covariance[0], -1);
    assert.deepEqual(vector(imu.linear_acceleration),
      ["ax", "ay", "az"].map((p) => row[`a/alone.${p}`]));
  }
  for (const [row, { wrench }] of messages(pair, "/a/sensor/ft")) {
    assert.deepEqual([...vector(wrench.force), ...vector(wrench.torque)],
      ["fx", "fy", "fz", "tx", "ty", "tz"].map((p) => row[`a/ft.${p}`]));
  }
  for (const [row, { transforms }] of messages(pair, "/tf")) {
    const at = (name) => transforms.find((t) => t.child_frame_id === name).transform;
    const link = at("a/trunk");
    const gyro = at("a/trunk/gyro");
    const wanted = turn(link.rotation, [0, 0.05, 0.1]).map((c, i) => c + vector(link.translation)[i]);
    assertNear(vector(gyro.translation), wanted, 1e-14, `gyro at ${row.time}`);
    const forward = turn(link.rotation, [Math.cos(0.5), Math.sin(0.5), 0]);
    assertNear(turn(gyro.rotation, [1, 0, 0]), forward, 1e-14, "its x axis");
  }
});

test("signals are numbers on topics of their own", async () => {
  for (const [row, { data }] of messages(humanoid, "/signals/energy/kinetic"))
    assert.equal(data, row["energy.kinetic"]);
  for (const [row, { data }] of messages(pair, "/signals/b/zmp/x"))
    assert.ok(Object.is(data, row["b.zmp.x"]));
  const out = path.join(folder, "few.mcap");
  tabi("export", pair.log, "-o", out, "--signals", "*knee.q", "--every", "10", "--from", "0.1",
    "--to", "0.2");
  const few = { ...(await readMcap(out)), rows: pair.rows };
  const signals = [...few.topics.keys()].filter((t) => t.startsWith("/signals"));
  assert.deepEqual(signals, ["/signals/a/knee/q", "/signals/b/knee/q"]);
  assert.deepEqual(few.topics.get("/tf").map((m) => m.time),
    [...Array(11).keys()].map((i) => BigInt(100 + 10 * i) * 1000000n));
});

test("names of topics are those that ROS accepts", async () => {
  const scene = path.join(folder, "odd.yaml"), log = path.join(folder, "odd.tabi");
  const bodies = ["a, b", "c//d", "e__f", "..", "g/", "5 h"].map((name, i) =>
    `  - {name: "${name}", mass: 1, xyz: [${i}, 0, 0.1], shape: {sphere: 0.1}}\n`);
  fs.writeFileSync(scene, "duration: 0.002\nbodies:\n" + bodies.join("") +
    "  - {name: floor, fixed: true, shape: {plane: {}}}\n");
  tabi("run", scene, "--log", log);
  const out = path.join(folder, "odd.mcap");
  tabi("export", log, "-o", out, "--signals", "*");
  const odd = await readMcap(out);
  assert.ok(odd.topics.has("/contact/a_b") && odd.topics.has("/signals/_5_h/x"));
  for (const file of [odd, pair, humanoid]) {
    for (const topic of file.topics.keys()) {
      assert.match(topic, /^(\/[A-Za-z_][A-Za-z0-9_]*)+$/);
      assert.doesNotMatch(topic, /__/);
    }
  }
});
