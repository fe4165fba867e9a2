/* fuzz_calls.c - any bytes as a sequence of calls: a builder takes defs with any numbers and
 * indices, and if a model comes of it, a world takes states, inputs and steps.  Nothing may abort,
 * loop or leave a number that is not finite in a state. */
#include "tabi/tabi.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CALLS 64

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

static void numbers(tape *t, double *to, int count) {
  uint8_t which = take(t); /* most stay as they are */
  for (int i = 0; i < count; ++i) {
    if (which >> i & 1) to[i] = number(t);
  }
}

static int32_t index_of(tape *t) { return (int8_t)take(t) % 8; }

static void add_link(tape *t, tabi_builder *builder) {
  tabi_link_def def = tabi_link_def_default();
  def.mass = 1;
  def.inertia[0] = def.inertia[1] = def.inertia[2] = 0.1;
  numbers(t, &def.mass, 1);
  numbers(t, def.com, 3);
  numbers(t, def.inertia, 6);
  (void)tabi_builder_add_link(builder, &def);
}

static void add_joint(tape *t, tabi_builder *builder) {
  tabi_joint_def def = tabi_joint_def_default();
  def.type = (tabi_joint_type)(take(t) % (TABI_JOINT_COUNT + 1));
  def.parent = index_of(t);
  def.child = index_of(t);
  numbers(t, def.pos, 3);
  numbers(t, def.quat, 4);
  numbers(t, def.axis, 3);
  numbers(t, &def.lower, 1);
  numbers(t, &def.upper, 1);
  numbers(t, &def.stiffness, 1);
  numbers(t, &def.damping, 1);
  numbers(t, &def.friction, 1);
  numbers(t, &def.rotor_inertia, 1);
  numbers(t, def.initial_q, 7);
  (void)tabi_builder_add_joint(builder, &def);
}

static void add_shape(tape *t, tabi_builder *builder) {
  tabi_shape_def def = tabi_shape_def_default();
  def.type = (tabi_shape_type)(take(t) % (TABI_SHAPE_COUNT + 1));
  def.link = index_of(t);
  def.mesh = index_of(t);
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
  if (take(t) % 4 == 0) faces[take(t) % 12] = index_of(t);
  def.vertices = vertices;
  def.nvertex = 4;
  def.faces = faces;
  def.nface = 4;
  (void)tabi_builder_add_mesh(builder, &def);
}

static void add_connection(tape *t, tabi_builder *builder) {
  tabi_connection_def def = tabi_connection_def_default();
  def.type = (tabi_connection_type)(take(t) % (TABI_CONNECTION_COUNT + 1));
  def.a = index_of(t);
  def.b = index_of(t);
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
  def.joint = index_of(t);
  def.leader = index_of(t);
  numbers(t, def.coef, 5);
  (void)tabi_builder_add_coupling(builder, &def);
}

static tabi_model *build(tape *t) {
  static void (*const calls[])(tape *, tabi_builder *) = {
      add_link, add_joint, add_shape, add_link, add_joint, add_mesh, add_connection, add_coupling};
  tabi_builder *builder = tabi_builder_create();
  if (!builder) return NULL;
  int count = take(t) % MAX_CALLS;
  for (int i = 0; i < count; ++i)
    calls[take(t) % (sizeof calls / sizeof *calls)](t, builder);
  double gravity[3] = {0, 0, -9.81};
  numbers(t, gravity, 3);
  tabi_builder_set_gravity(builder, gravity);
  tabi_error err = {0};
  tabi_model *model = tabi_builder_build(builder, &err);
  if (!model && err.message[0] == '\0') abort();
  tabi_builder_destroy(builder);
  return model;
}

static void expect_finite(const double *x, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    if (!isfinite(x[i])) abort();
  }
}

static void step(tape *t, tabi_world *world, double *state) {
  const tabi_model *model = tabi_world_model(world);
  int32_t nq = tabi_model_nq(model);
  int32_t nv = tabi_model_nv(model);
  if (take(t) % 4 == 0) {
    memcpy(state, tabi_world_q(world), sizeof *state * (size_t)nq);
    memcpy(state + nq, tabi_world_v(world), sizeof *state * (size_t)nv);
    numbers(t, state, nq < 8 ? nq : 8);
    numbers(t, state + nq, nv < 8 ? nv : 8);
    (void)tabi_world_set_state(world, state, state + nq, NULL);
  }
  memset(state, 0, sizeof *state * (size_t)nv);
  numbers(t, state, nv < 8 ? nv : 8);
  (void)tabi_world_step(world, state);
  expect_finite(tabi_world_q(world), nq);
  expect_finite(tabi_world_v(world), nv);
}

static void run(tape *t, const tabi_model *model) {
  tabi_world_def def = tabi_world_def_default(model);
  def.contact = (tabi_contact_kind)(take(t) % TABI_CONTACT_COUNT);
  def.integrator = (tabi_integrator)(take(t) % TABI_INTEGRATOR_COUNT);
  numbers(t, &def.timestep, 1);
  def.max_contacts = 200;
  tabi_world *world = tabi_world_create(model, &def, NULL);
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
