/* fuzz_calls.c - any bytes as a sequence of calls: a builder takes defs with any numbers and
 * indices, and if a model comes of it, a world takes states, inputs and steps.  Nothing may abort,
 * loop or leave a number that is not finite in a state.
 *
 * A refused call ends a builder, so that calls are kept: the builder is made anew from those that
 * were accepted, and from fewer of them where they make no model together. */
#include "tabi/tabi.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CALLS 24

/* Bytes that are used up; zeros follow. */
typedef struct tape {
  const uint8_t *at, *end;
} tape;

static uint8_t take(tape *t) { return t->at < t->end ? *t->at++ : 0; }

/* small numbers, powers of ten up to the largest double, and what is none */
static double number(tape *t) {
  uint8_t kind = take(t);
  double x = (double)(int8_t)take(t);
  if (kind < 160) return x / 16;
  if (kind < 250) return x * pow(10, (double)(int8_t)take(t) * 2.4);
  return kind < 253 ? (double)NAN : (double)INFINITY;
}

/* Most stay as they are. */
static void numbers(tape *t, double *to, int count) {
  if (take(t) < 208) return;
  uint8_t which = take(t);
  for (int i = 0; i < count; ++i) {
    if (which >> (i % 8) & 1) to[i] = number(t);
  }
}

/* Of the last items, at times of one that does not exist. */
static int32_t index_of(tape *t, int32_t count) {
  int32_t i = (int8_t)take(t);
  return i < 0 || i > 120 ? i : i % (count + 1) - 1;
}

static int32_t add_link(tape *t, tabi_builder *builder) {
  tabi_link_def def = tabi_link_def_default();
  def.mass = 1;
  def.inertia[0] = def.inertia[1] = def.inertia[2] = 0.1;
  numbers(t, &def.mass, 1);
  numbers(t, def.com, 3);
  numbers(t, def.inertia, 6);
  return tabi_builder_add_link(builder, &def);
}

/* A link and the joint that carries it, now and then one that is another's. */
static void add_body(tape *t, tabi_builder *builder) {
  tabi_joint_def def = tabi_joint_def_default();
  def.parent = index_of(t, tabi_builder_nlink(builder));
  def.child = add_link(t, builder);
  if (take(t) > 250) def.child = index_of(t, tabi_builder_nlink(builder));
  def.type = (tabi_joint_type)(take(t) % (TABI_JOINT_COUNT + 1));
  if (def.type == TABI_JOINT_FREE) def.parent = TABI_WORLD;
  def.pos[2] = 0.3;
  def.axis[1] = 1;
  numbers(t, def.pos, 3);
  numbers(t, def.quat, 4);
  numbers(t, def.axis, 3);
  numbers(t, &def.lower, 1);
  numbers(t, &def.upper, 1);
  numbers(t, &def.stiffness, 1);
  numbers(t, &def.damping, 1);
  numbers(t, &def.friction, 1);
  numbers(t, &def.rotor_inertia, 1);
  numbers(t, &def.effort, 1);
  numbers(t, def.initial_q, 7);
  (void)tabi_builder_add_joint(builder, &def);
}

static void add_shape(tape *t, tabi_builder *builder) {
  tabi_shape_def def = tabi_shape_def_default();
  def.type = (tabi_shape_type)(take(t) % (TABI_SHAPE_COUNT + 1));
  def.link = index_of(t, tabi_builder_nlink(builder));
  bool has_mesh = def.type >= TABI_SHAPE_MESH && def.type <= TABI_SHAPE_HEIGHTFIELD;
  def.mesh = has_mesh ? take(t) % 3 : TABI_NONE;
  def.size[0] = def.size[1] = def.size[2] = 0.2;
  numbers(t, def.size, 3);
  numbers(t, def.pos, 3);
  numbers(t, def.quat, 4);
  (void)tabi_builder_add_shape(builder, &def);
}

static void add_mesh(tape *t, tabi_builder *builder) {
  tabi_mesh_def def = tabi_mesh_def_default();
  double vertices[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  int32_t faces[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
  numbers(t, vertices, 8);
  if (take(t) % 4 == 0) faces[take(t) % 12] = (int8_t)take(t) % 8;
  def.vertices = vertices;
  def.nvertex = 4;
  def.faces = faces;
  def.nface = 4;
  (void)tabi_builder_add_mesh(builder, &def);
}

static void add_connection(tape *t, tabi_builder *builder) {
  tabi_connection_def def = tabi_connection_def_default();
  def.type = (tabi_connection_type)(take(t) % (TABI_CONNECTION_COUNT + 1));
  def.a = index_of(t, tabi_builder_nlink(builder));
  def.b = index_of(t, tabi_builder_nlink(builder));
  def.axes = take(t);
  def.length = 1;
  numbers(t, &def.length, 1);
  numbers(t, def.pos_a, 3);
  numbers(t, def.pos_b, 3);
  numbers(t, &def.stiffness, 1);
  numbers(t, &def.damping, 1);
  (void)tabi_builder_add_connection(builder, &def);
}

static void add_coupling(tape *t, tabi_builder *builder) {
  tabi_coupling_def def = tabi_coupling_def_default();
  def.joint = index_of(t, tabi_builder_njoint(builder));
  def.leader = index_of(t, tabi_builder_njoint(builder));
  numbers(t, def.coef, 5);
  (void)tabi_builder_add_coupling(builder, &def);
}

static void add_actuator(tape *t, tabi_builder *builder) {
  tabi_actuator_def def = tabi_actuator_def_default();
  def.joint = index_of(t, tabi_builder_njoint(builder));
  numbers(t, &def.gear, 1);
  numbers(t, &def.gain, 1);
  numbers(t, def.bias, 3);
  numbers(t, &def.force_max, 1);
  (void)tabi_builder_add_actuator(builder, &def);
}

static void add_sensor(tape *t, tabi_builder *builder) {
  tabi_sensor_def def = tabi_sensor_def_default();
  def.type = (tabi_sensor_type)(take(t) % (TABI_SENSOR_COUNT + 1));
  def.link = index_of(t, tabi_builder_nlink(builder));
  def.joint = index_of(t, tabi_builder_njoint(builder));
  numbers(t, def.pos, 3);
  numbers(t, def.noise, TABI_SENSOR_MAX);
  numbers(t, &def.delay, 1);
  (void)tabi_builder_add_sensor(builder, &def);
}

static void set_gravity(tape *t, tabi_builder *builder) {
  double gravity[3] = {0, 0, -9.81};
  numbers(t, gravity, 3);
  tabi_builder_set_gravity(builder, gravity);
}

/* The places of calls on the tape. */
typedef struct calls {
  const uint8_t *at[MAX_CALLS];
  int count;
} calls;

static void call(tape *t, tabi_builder *builder) {
  static void (*const all[])(tape *, tabi_builder *) = {
      add_body,       add_shape,    add_body,     add_shape,  add_mesh,   add_body,
      add_connection, add_coupling, add_actuator, add_sensor, set_gravity};
  all[take(t) % (sizeof all / sizeof *all)](t, builder);
}

static tabi_builder *replay(const calls *good, const uint8_t *end) {
  tabi_builder *builder = tabi_builder_create();
  if (!builder) abort();
  for (int i = 0; i < good->count; ++i) {
    tape t = {good->at[i], end};
    call(&t, builder);
  }
  if (tabi_builder_error(builder)) abort(); // it was accepted before
  return builder;
}

/* All calls of the tape; those that were accepted. */
static tabi_builder *call_all(tape *t, calls *good) {
  tabi_builder *builder = replay(good, t->end);
  int count = take(t) % MAX_CALLS;
  for (int i = 0; i < count; ++i) {
    const uint8_t *at = t->at;
    call(t, builder);
    if (!tabi_builder_error(builder)) {
      good->at[good->count++] = at;
      continue;
    }
    tabi_builder_destroy(builder);
    builder = replay(good, t->end);
  }
  return builder;
}

static tabi_model *build(tape *t) {
  calls good = {.count = 0};
  tabi_builder *builder = call_all(t, &good);
  tabi_error err = {0};
  tabi_model *model = tabi_builder_build(builder, &err);
  while (!model && good.count > 0) {
    if (err.message[0] == '\0') abort();
    good.count /= 2;
    tabi_builder_destroy(builder);
    builder = replay(&good, t->end);
    model = tabi_builder_build(builder, &err);
  }
  tabi_builder_destroy(builder);
  return model;
}

static void expect_finite(const double *x, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    if (!isfinite(x[i])) abort();
  }
}

static int least(int a, int b) { return a < b ? a : b; }

static void set_state(tape *t, tabi_world *world, double *state) {
  const tabi_model *model = tabi_world_model(world);
  int32_t nq = tabi_model_nq(model);
  int32_t nv = tabi_model_nv(model);
  memcpy(state, tabi_world_q(world), sizeof *state * (size_t)nq);
  memcpy(state + nq, tabi_world_v(world), sizeof *state * (size_t)nv);
  numbers(t, state, least(nq, 16));
  numbers(t, state + nq, least(nv, 16));
  (void)tabi_world_set_state(world, state, state + nq, NULL);
}

/* Finite, as the header asks. */
static void drive(tape *t, tabi_world *world) {
  const tabi_model *model = tabi_world_model(world);
  int32_t joint = take(t) % (tabi_model_njoint(model) + 1);
  if (joint == tabi_model_njoint(model) || tabi_model_joint_v(model, joint).count != 1) return;
  const tabi_servo servo = {take(t), take(t), (int8_t)take(t) / 32.0, 0, take(t) % 2 == 0};
  tabi_world_set_servo(world, joint, &servo);
}

static void push(tape *t, tabi_world *world) {
  int32_t link = take(t) % (tabi_model_nlink(tabi_world_model(world)) + 1);
  if (link == tabi_model_nlink(tabi_world_model(world))) return;
  const double force[3] = {(int8_t)take(t), (int8_t)take(t), (int8_t)take(t)};
  const double nothing[3] = {0, 0, 0};
  tabi_world_apply(world, link, force, nothing, nothing);
}

/* To and fro: the same step twice gives the same. */
static void step_again(tabi_world *world, const double *tau) {
  size_t size = tabi_world_snapshot_size(world);
  void *snapshot = malloc(size);
  if (!snapshot) return;
  tabi_world_save(world, snapshot);
  tabi_status first = tabi_world_step(world, tau);
  uint64_t hash = tabi_world_hash(world);
  if (tabi_world_restore(world, snapshot, size) != TABI_OK) abort();
  if (tabi_world_step(world, tau) != first || tabi_world_hash(world) != hash) abort();
  free(snapshot);
}

static void step(tape *t, tabi_world *world, double *state) {
  const tabi_model *model = tabi_world_model(world);
  int32_t nv = tabi_model_nv(model);
  uint8_t what = take(t);
  if (what % 4 == 1) set_state(t, world, state);
  if (what % 4 == 2) drive(t, world);
  memset(state, 0, sizeof *state * (size_t)nv);
  numbers(t, state, least(nv, 16));
  if (what % 8 == 3) step_again(world, state);
  if (what % 8 == 7) push(t, world);
  if (tabi_world_step(world, state) != TABI_OK && tabi_world_error(world)->message[0] == '\0')
    abort();
  expect_finite(tabi_world_q(world), tabi_model_nq(model));
  expect_finite(tabi_world_v(world), nv);
  (void)tabi_world_energy(world);
}

static void run(tape *t, const tabi_model *model) {
  tabi_world_def def = tabi_world_def_default(model);
  def.contact = (tabi_contact_kind)(take(t) % TABI_CONTACT_COUNT);
  def.integrator = (tabi_integrator)(take(t) % TABI_INTEGRATOR_COUNT);
  def.max_contacts = 200;
  def.iterations = 50;
  numbers(t, &def.timestep, 1);
  tabi_error err = {0};
  tabi_world *world = tabi_world_create(model, &def, &err);
  if (!world && err.message[0] == '\0') abort();
  size_t count = (size_t)tabi_model_nq(model) + (size_t)tabi_model_nv(model) + 1;
  double *state = calloc(count, sizeof *state);
  for (int i = 0; world && state && i < 4; ++i)
    step(t, world, state);
  free(state);
  tabi_world_destroy(world);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size); // NOLINT

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { // NOLINT
  tape t = {data, data + size};
  tabi_model *model = build(&t);
  if (model) run(&t, model);
  tabi_model_destroy(model);
  return 0;
}
