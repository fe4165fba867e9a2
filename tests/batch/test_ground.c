/* test_ground.c - shapes that stand in the world and are no planes: what moves in lanes meets them
 * as in tabi_world_step, and has the same bits whatever the width and its neighbours are. */
#include "stand.h"
#include "support/ground.h"
#include "support/near.h"

#include <stdlib.h>
#include <string.h>

#ifdef __OPTIMIZE__
#define STEPS 1000
#else
#define STEPS 200
#endif

/* -- one shape, with a flap, over one that stands */

static double hills(double x, double y) { return 0.03 * (cos(9 * x) * sin(8 * y) - 1); }

static void set_size(tabi_shape_def *shape, double x, double y, double z) {
  shape->size[0] = x;
  shape->size[1] = y;
  shape->size[2] = z;
}

static int32_t add_hull(tabi_builder *builder) {
  static const double vertices[] = {-0.1,  -0.08, -0.06, 0.11, -0.07, -0.05, 0,   0.1,
                                    -0.07, 0.02,  0.01,  0.09, 0.09,  0.06,  0.02};
  static const int32_t faces[] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 4, 3, 2, 3, 4, 1, 2, 4};
  tabi_mesh_def def = tabi_mesh_def_default();
  def.nvertex = 5;
  def.nface = 6;
  def.vertices = vertices;
  def.faces = faces;
  return tabi_builder_add_mesh(builder, &def);
}

static tabi_shape_def shape_of(tabi_builder *builder, tabi_shape_type type, double scale) {
  tabi_shape_def shape = tabi_shape_def_default();
  shape.type = type;
  switch (type) {
  case TABI_SHAPE_BOX:
    set_size(&shape, 0.2 * scale, 0.16 * scale, 0.12 * scale);
    break;
  case TABI_SHAPE_ELLIPSOID:
    set_size(&shape, 0.1 * scale, 0.08 * scale, 0.06 * scale);
    break;
  case TABI_SHAPE_MESH:
    shape.mesh = add_hull(builder);
    break;
  default:
    set_size(&shape, 0.08 * scale, 0.1 * scale, 0);
  }
  return shape;
}

/* m, what a standing shape of four times the size reaches above its middle */
static double top_of(tabi_shape_type type) {
  switch (type) {
  case TABI_SHAPE_SPHERE:
    return 0.32;
  case TABI_SHAPE_CAPSULE:
    return 0.52;
  case TABI_SHAPE_CYLINDER:
    return 0.2;
  case TABI_SHAPE_MESH:
    return 0.09;
  default:
    return 0.24;
  }
}

/* below the origin, with its top about there */
static void add_standing(tabi_builder *builder, tabi_shape_type type) {
  rng r = rng_make(7);
  if (type == TABI_SHAPE_TRIANGLES || type == TABI_SHAPE_HEIGHTFIELD) {
    ground g = ground_grid(&r, 2, 2, 20, 20, type == TABI_SHAPE_TRIANGLES ? 0.2 : 0, hills);
    (void)ground_add(builder, &g, type, NULL, TABI_NONE);
    return;
  }
  for (int i = 0; i < 9; ++i) {
    double scale = type == TABI_SHAPE_MESH ? 1 : 4;
    tabi_shape_def shape = shape_of(builder, type, scale);
    shape.link = TABI_WORLD;
    int row = i / 3;
    shape.pos[0] = 0.11 * scale * (i % 3 - 1);
    shape.pos[1] = 0.11 * scale * (row - 1);
    shape.pos[2] = -top_of(type) - 0.01 * (i % 2);
    shape.quat[0] = cos(0.02 * i);
    shape.quat[3] = sin(0.02 * i);
    (void)tabi_builder_add_shape(builder, &shape);
  }
}

static tabi_model *make_thing(tabi_shape_type moving, tabi_shape_type standing) {
  tabi_builder *builder = tabi_builder_create();
  tabi_link_def link = tabi_link_def_default();
  link.mass = 2;
  link.inertia[0] = link.inertia[1] = link.inertia[2] = 0.008;
  tabi_joint_def joint = tabi_joint_def_default();
  joint.type = TABI_JOINT_FREE;
  joint.parent = TABI_WORLD;
  joint.child = tabi_builder_add_link(builder, &link);
  joint.initial_q[2] = 0.16;
  (void)tabi_builder_add_joint(builder, &joint);
  if (standing < moving) add_standing(builder, standing);
  tabi_shape_def shape = shape_of(builder, moving, 1);
  shape.link = joint.child;
  (void)tabi_builder_add_shape(builder, &shape);
  if (standing >= moving) add_standing(builder, standing);
  int32_t thing = joint.child;
  link.mass = 0.05;
  link.inertia[0] = link.inertia[1] = link.inertia[2] = 1e-4;
  joint = tabi_joint_def_default();
  joint.type = TABI_JOINT_CONTINUOUS;
  joint.parent = thing;
  joint.child = tabi_builder_add_link(builder, &link);
  joint.damping = 1e-3;
  (void)tabi_builder_add_joint(builder, &joint);
  tabi_error err;
  tabi_model *model = tabi_builder_build(builder, &err);
  if (!model) fail_msg("%s", err.message);
  tabi_builder_destroy(builder);
  return model;
}

/* What differs between steps in lanes and tabi_world_step from the same states. */
typedef struct difference {
  double velocity; /* m/s and rad/s, mean over steps of the largest */
  double overlap;  /* m, the largest */
  int touching;    /* steps in which contacts push */
} difference;

static double deepest(const tabi_world *world, bool *touching) {
  int32_t count;
  const tabi_contact *contact = tabi_world_contacts(world, &count);
  double depth = 0;
  *touching = false;
  for (int32_t i = 0; i < count; ++i) {
    depth = fmax(depth, -contact[i].gap);
    *touching = *touching || v3_norm(v3_load(contact[i].impulse)) > 0;
  }
  return depth;
}

static void compare_step(tabi_batch *b, tabi_world *world, difference *sum) {
  int32_t nv = tabi_model_nv(tabi_world_model(world));
  const double *v = tabi_batch_array(b, TABI_BATCH_V, NULL);
  const double *told = tabi_batch_array(b, TABI_BATCH_CERTIFICATE, NULL);
  bool touching;
  double most = 0;
  assert_int_equal(tabi_batch_save(b, 0, world, NULL), TABI_OK);
  assert_int_equal(tabi_world_step_or_grow(world, NULL), TABI_OK);
  assert_int_equal(tabi_batch_step(b, 1, NULL), 0);
  for (int32_t k = 0; k < nv; ++k)
    most = fmax(most, fabs(v[k] - tabi_world_v(world)[k]));
  double apart = fabs(told[TABI_BATCH_OVERLAP] - deepest(world, &touching));
  sum->overlap = fmax(sum->overlap, apart);
  sum->velocity += most;
  sum->touching += touching;
}

/* the collision of these is as exact as its iterations, whose number may hang on the last bit */
static bool is_iterated(tabi_shape_type a, tabi_shape_type b) {
  const tabi_shape_type few[] = {TABI_SHAPE_CYLINDER, TABI_SHAPE_MESH, TABI_SHAPE_ELLIPSOID};
  for (size_t i = 0; i < sizeof few / sizeof *few; ++i)
    if (a == few[i] || b == few[i]) return true;
  return false;
}

static void compare_thing(tabi_shape_type moving, tabi_shape_type standing) {
  enum { FALL = 500 };
  tabi_model *model = make_thing(moving, standing);
  tabi_world_def def = tabi_world_def_default(model);
  tabi_batch_def batch_def = tabi_batch_def_default();
  def.timestep = 1e-3;
  def.tolerance = 1e-12;
  def.iterations = 300;
  batch_def.worlds = 3;
  batch_def.threads = 1;
  tabi_error err;
  tabi_batch *b = tabi_batch_create(model, &def, &batch_def, &err);
  if (!b) fail_msg("%s", err.message);
  assert_string_equal(tabi_batch_reason(b), "");
  for (int32_t i = 0; i < 3; ++i)
    tabi_batch_scatter(b, i, (uint64_t)i + 5, 0.5, 0.4);
  tabi_world *world = tabi_world_create(model, &def, NULL);
  difference sum = {0};
  for (int i = 0; i < FALL; ++i)
    compare_step(b, world, &sum);
  sum.velocity /= FALL;
  print_message("[          ] shape %d on %d: %.1e m/s, %.1e m, %d steps touching\n", (int)moving,
                (int)standing, sum.velocity, sum.overlap, sum.touching);
  assert_true(sum.touching > FALL / 10);
  assert_true(sum.overlap < (is_iterated(moving, standing) ? 1e-5 : 1e-10));
  /* what slides and spins on a face depends on how its points share the load: not unique */
  assert_true(sum.velocity < 1e-2);
  tabi_batch_destroy(b);
  tabi_world_destroy(world);
  tabi_model_destroy(model);
}

static void things_meet_the_ground_as_in_worlds(void **state) {
  (void)state;
  for (int moving = TABI_SHAPE_SPHERE; moving < TABI_SHAPE_COUNT; ++moving) {
    if (moving == TABI_SHAPE_TRIANGLES || moving == TABI_SHAPE_HEIGHTFIELD) continue;
    for (int standing = TABI_SHAPE_SPHERE; standing < TABI_SHAPE_COUNT; ++standing)
      compare_thing((tabi_shape_type)moving, (tabi_shape_type)standing);
  }
}

/* -- the humanoid, on what stands under it */

static const char terrain[] =
    "  - name: hills\n"
    "    fixed: true\n"
    "    shape: {heightfield: {file: terrain.txt, size: [4, 3], height: 0.001}}\n"
    "    material: ground\n";

/* each foot on two blocks, and more to fall on */
static const char stairs[] =
    "  - {name: left, fixed: true, shape: {box: [0.5, 0.2, 0.1]}, xyz: [-0.23, 0.1, -0.05],"
    " material: ground}\n"
    "  - {name: right, fixed: true, shape: {box: [0.5, 0.2, 0.1]}, xyz: [-0.23, -0.1, -0.05],"
    " material: ground}\n"
    "  - {name: toes, fixed: true, shape: {box: [0.4, 0.6, 0.1]}, xyz: [0.22, 0, -0.05],"
    " material: ground}\n"
    "  - {name: step1, fixed: true, shape: {box: [0.3, 1, 0.1]}, xyz: [0.57, 0, 0.05],"
    " material: sole}\n"
    "  - {name: step2, fixed: true, shape: {box: [0.3, 1, 0.1]}, xyz: [0.87, 0, 0.15],"
    " material: ground}\n"
    "  - {name: post, fixed: true, shape: {cylinder: [0.1, 0.5]}, xyz: [-0.6, 0.3, 0.2],"
    " material: ground}\n"
    "  - {name: boulder, fixed: true, shape: {sphere: 0.3}, xyz: [-0.6, -0.4, 0], material: "
    "ground}\n"
    "  - {name: rail, fixed: true, shape: {capsule: [0.05, 1]}, xyz: [-0.3, 0.6, 0.1],"
    " rpy: [0, 1.57, 0], material: ground}\n"
    "  - {name: floor, fixed: true, shape: {plane: {}}, xyz: [0, 0, -0.1], material: ground}\n";

static tabi_batch_def lanes_def(int32_t worlds, int32_t lanes) {
  tabi_batch_def def = tabi_batch_def_default();
  def.worlds = worlds;
  def.lanes = lanes;
  def.threads = 1;
  return def;
}

/* positions, after steps that are solved far */
static void stands_as_in_a_world(const char *below, double height, double tolerance) {
  stand t = stand_open_on(below, height);
  t.world_def.tolerance = 1e-12;
  t.world_def.iterations = 5000;
  tabi_batch *b = stand_batch(&t, lanes_def(3, 0));
  assert_string_equal(tabi_batch_reason(b), "");
  const double *q = tabi_batch_array(b, TABI_BATCH_Q, NULL);
  double worst = 0;
  for (int i = 0; i < STEPS; ++i) {
    step_world(t.s.scene, t.s.world);
    tabi_batch_step(b, 1, NULL);
    for (int32_t k = 0; k < t.nq; ++k)
      worst = fmax(worst, fabs(q[k] - tabi_world_q(t.s.world)[k]));
  }
  print_message("[          ] %d steps, positions differ by %.1e\n", STEPS, worst);
  assert_true(worst < tolerance);
  tabi_batch_destroy(b);
  stand_close(&t);
}

static void standing_on_blocks_agrees_with_world(void **state) {
  (void)state;
  stands_as_in_a_world(stairs, 0.64869739811465, 1e-8);
}

static void standing_on_bumps_agrees_with_world(void **state) {
  (void)state;
  /* it lands on corners of its soles, which slip, as they do on a plane that leans */
  stands_as_in_a_world(terrain, 0.658, 1e-6);
}

enum { WORLDS = 19, RUN = 300 };

/* world i begins with the seed of place[i] */
static void run_hashes(const stand *t, tabi_batch_def def, int32_t k, const int32_t *place,
                       uint64_t *hash) {
  tabi_batch *b = stand_batch(t, def);
  for (int32_t i = 0; i < WORLDS; ++i)
    tabi_batch_scatter(b, i, (uint64_t)place[i] + 1, 0.2, 2);
  stand_run(t, b, RUN, k, 0.5);
  for (int32_t i = 0; i < WORLDS; ++i)
    hash[place[i]] = stand_hash(b, i);
  tabi_batch_destroy(b);
}

static void check_bits(const char *below, double height) {
  stand t = stand_open_on(below, height);
  const int32_t widths[] = {2, 4, 8};
  uint64_t first[WORLDS];
  uint64_t other[WORLDS];
  int32_t place[WORLDS];
  for (int32_t i = 0; i < WORLDS; ++i)
    place[i] = i;
  run_hashes(&t, lanes_def(WORLDS, 1), 1, place, first);
  for (size_t i = 0; i < sizeof widths / sizeof *widths; ++i) {
    tabi_batch_def def = lanes_def(WORLDS, widths[i]);
    tabi_batch *has = tabi_batch_create(t.model, &t.world_def, &def, NULL);
    if (!has) continue;
    tabi_batch_destroy(has);
    run_hashes(&t, def, 1, place, other);
    print_message("[          ] %d lanes\n", (int)widths[i]);
    assert_memory_equal(first, other, sizeof first);
  }
  for (int32_t i = 0; i < WORLDS; ++i)
    place[i] = (5 * i + 3) % WORLDS;
  tabi_batch_def def = lanes_def(WORLDS, 0);
  def.threads = 3;
  run_hashes(&t, def, 20, place, other);
  assert_memory_equal(first, other, sizeof first);
  stand_close(&t);
}

static void bits_on_blocks_do_not_depend_on_lanes_or_neighbours(void **state) {
  (void)state;
  check_bits(stairs, 0.64869739811465);
}

static void bits_on_bumps_do_not_depend_on_lanes_or_neighbours(void **state) {
  (void)state;
  check_bits(terrain, 0.658);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(things_meet_the_ground_as_in_worlds),
      cmocka_unit_test(standing_on_blocks_agrees_with_world),
      cmocka_unit_test(standing_on_bumps_agrees_with_world),
      cmocka_unit_test(bits_on_blocks_do_not_depend_on_lanes_or_neighbours),
      cmocka_unit_test(bits_on_bumps_do_not_depend_on_lanes_or_neighbours),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
