/* test_many_loops.c - loop constraints taken bundle by bundle move random mechanisms like all of a
 * cluster taken as one bundle, whose pivots are the best of all. */
#include "math/quat.h"
#include "support/near.h"
#include "support/random_model.h"
#include "support/rng.h"
#include "world/world.h"

#include <stdlib.h>
#include <string.h>

#define CELLS 24
#define LINKS 3 /* of a cell, at most */
#define SEEDS 60
#define STEPS 4

/* a row of small robots, each connected with the next */
typedef struct row {
  uint64_t seed;
  tabi_builder *builder;
  tabi_model *model;
  int32_t first[CELLS + 1]; /* links of a cell */
  double q[CELLS * (LINKS + 6)], v[CELLS * (LINKS + 5)];
} row;

static int32_t add_link(tabi_builder *b, rng *r, int32_t parent, tabi_joint_type type) {
  int32_t index = random_add_link(b, r);
  tabi_joint_def joint = tabi_joint_def_default();
  joint.type = type;
  joint.parent = parent;
  joint.child = index;
  random_place(r, &joint);
  tabi_builder_add_joint(b, &joint);
  return index;
}

/* robots on hinges in the world; some float */
static void add_cells(row *x, rng *r) {
  for (int cell = 0; cell < CELLS; ++cell) {
    tabi_joint_type base = rng_below(r, 3) == 0 ? TABI_JOINT_FREE : TABI_JOINT_CONTINUOUS;
    int32_t first = add_link(x->builder, r, TABI_WORLD, base);
    x->first[cell] = first;
    int32_t links = 1 + rng_below(r, LINKS);
    for (int i = 1; i < links; ++i)
      (void)add_link(x->builder, r, first + rng_below(r, i), TABI_JOINT_CONTINUOUS);
    x->first[cell + 1] = first + links;
  }
}

/* where a frame of the world is on a link, as it stands */
static void seen_from(const tabi_dynamics *d, int32_t link, v3 x, const m3 *axes, double *pos,
                      double *quat) {
  double at[3];
  double turned[4];
  tabi_dynamics_link_pose(d, link, at, turned);
  m3 own = q_matrix(q_load(turned));
  m3 back = m3_transpose(&own);
  m3 relative = m3_mul(&back, axes);
  v3_store(m3_mulv(&back, v3_sub(x, v3_load(at))), pos);
  q_store(q_from_matrix(&relative), quat);
}

static int32_t any_link(const row *x, rng *r, int cell) {
  return x->first[cell] + rng_below(r, x->first[cell + 1] - x->first[cell]);
}

/* a connection between a cell and the next, closed as they stand; sometimes twice */
static void connect(row *x, rng *r, const tabi_dynamics *d, int cell) {
  tabi_connection_def def = tabi_connection_def_default();
  def.type = (tabi_connection_type)rng_below(r, TABI_CONNECTION_COUNT);
  def.a = any_link(x, r, cell);
  def.b = any_link(x, r, cell + 1);
  def.axes = 1 + (uint32_t)rng_below(r, 63);
  double at[3];
  double end[3];
  double turn[4];
  rng_fill(r, 0.3, at, 3);
  rng_fill(r, 0.3, end, 3);
  rng_direction(r, turn, 4);
  m3 axes = q_matrix(q_load(turn));
  bool apart = def.type == TABI_CONNECTION_ROD || def.type == TABI_CONNECTION_SPRING;
  seen_from(d, def.a, v3_load(at), &axes, def.pos_a, def.quat_a);
  seen_from(d, def.b, v3_load(apart ? end : at), &axes, def.pos_b, def.quat_b);
  def.length = v3_norm(v3_sub(v3_load(at), v3_load(end)));
  def.stiffness = 50;
  for (int times = rng_below(r, 4) == 0 ? 2 : 1; times > 0; --times)
    tabi_builder_add_connection(x->builder, &def);
}

/* the joint of the last link of a cell follows that of the next cell */
static void couple(row *x, rng *r, int cell) {
  int32_t joint = x->first[cell + 1] - 1;
  int32_t leader = x->first[cell + 2] - 1;
  if (joint == x->first[cell] || leader == x->first[cell + 1]) return;
  tabi_coupling_def def = tabi_coupling_def_default();
  def.joint = joint;
  def.leader = leader;
  def.coef[1] = rng_between(r, -2, 2);
  tabi_builder_add_coupling(x->builder, &def);
}

static row make_row(uint64_t seed) {
  rng r = rng_make(seed);
  row x = {.seed = seed, .builder = tabi_builder_create()};
  add_cells(&x, &r);
  tabi_model *open = tabi_builder_build(x.builder, NULL);
  assert_non_null(open);
  tabi_dynamics *d = tabi_dynamics_create(open, NULL);
  tabi_model_initial_q(open, x.q);
  rng_fill(&r, 1, x.v, tabi_model_nv(open));
  tabi_dynamics_set_state(d, x.q, x.v);
  for (int cell = 0; cell + 1 < CELLS; ++cell) {
    connect(&x, &r, d, cell);
    if (rng_below(&r, 4) == 0) couple(&x, &r, cell);
  }
  x.model = tabi_builder_build(x.builder, NULL);
  assert_non_null(x.model);
  tabi_dynamics_destroy(d);
  tabi_model_destroy(open);
  return x;
}

static void drop_row(row *x) {
  tabi_model_destroy(x->model);
  tabi_builder_destroy(x->builder);
}

static tabi_world *open_world(const row *x, tabi_integrator integrator) {
  tabi_world_def def = tabi_world_def_default(x->model);
  def.integrator = integrator;
  tabi_world *world = tabi_world_create(x->model, &def, NULL);
  assert_non_null(world);
  return world;
}

/* one step of both worlds from a state; the largest difference of velocities, as a share */
static double step_both(tabi_world *a, tabi_world *b, const double *q, const double *v) {
  tabi_world *both[2] = {a, b};
  for (int i = 0; i < 2; ++i) {
    assert_int_equal(tabi_world_set_state(both[i], q, v, NULL), TABI_OK);
    assert_int_equal(tabi_world_step(both[i], NULL), TABI_OK);
  }
  double worst = 0;
  double size = 1;
  for (int32_t i = 0; i < tabi_model_nv(a->model); ++i) {
    worst = fmax(worst, fabs(tabi_world_v(a)[i] - tabi_world_v(b)[i]));
    size = fmax(size, fabs(tabi_world_v(b)[i]));
  }
  return worst / size;
}

static void compare_row(uint64_t seed, tabi_integrator integrator, int *split) {
  row x = make_row(seed);
  tabi_world *bundled = open_world(&x, integrator);
  tabi_world *united = open_world(&x, integrator);
  for (int32_t c = 0; c < x.model->ncluster; ++c) {
    if (bundled->setup.loops.bundles.cluster_count[c] > 1) ++*split;
    if (united->setup.loops.bundles.cluster_count[c] == 0) continue;
    tbi_bundles_unite(&united->setup.loops.bundles, x.model, c);
  }
  for (int step = 0; step < STEPS; ++step) {
    double worst = step_both(bundled, united, x.q, x.v);
    if (!(worst < 1e-9)) print_error("seed %d step %d: %g\n", (int)seed, step, worst);
    assert_true(worst < 1e-9);
    memcpy(x.q, tabi_world_q(united), sizeof *x.q * (size_t)tabi_model_nq(x.model));
    memcpy(x.v, tabi_world_v(united), sizeof *x.v * (size_t)tabi_model_nv(x.model));
  }
  tabi_world_destroy(bundled);
  tabi_world_destroy(united);
  drop_row(&x);
}

static void test_bundles_move_like_one(void **state) {
  (void)state;
  int split = 0;
  for (uint64_t seed = 1; seed <= SEEDS; ++seed)
    compare_row(seed, TABI_SEMI_IMPLICIT, &split);
  assert_true(split > SEEDS / 2);
}

static void test_bundles_move_like_one_in_stages(void **state) {
  (void)state;
  int split = 0;
  for (uint64_t seed = 1; seed <= SEEDS; ++seed)
    compare_row(seed, TABI_RK4, &split);
  assert_true(split > SEEDS / 2);
}

/* Numbers in all columns of n windows in a row: two posts and a beam each, neighbours share a post.
 */
static double count_numbers(int32_t n) {
  tabi_builder *b = tabi_builder_create();
  rng r = rng_make(1);
  for (int32_t i = 0; i <= n; ++i) {
    int32_t post = add_link(b, &r, TABI_WORLD, TABI_JOINT_CONTINUOUS);
    if (i < n) (void)add_link(b, &r, post, TABI_JOINT_CONTINUOUS);
  }
  tabi_connection_def def = tabi_connection_def_default();
  def.type = TABI_CONNECTION_AXES;
  def.axes = TABI_MOVE_X | TABI_MOVE_Y;
  for (int32_t i = 0; i < n; ++i) {
    def.a = 2 * i + 1;
    def.b = 2 * i + 2;
    tabi_builder_add_connection(b, &def);
  }
  tabi_model *model = tabi_builder_build(b, NULL);
  tabi_world *world = tabi_world_create(model, NULL, NULL);
  assert_non_null(world);
  const tbi_bundles *bundles = &world->setup.loops.bundles;
  assert_int_equal(bundles->cluster_count[0], n);
  double numbers = 0;
  for (int32_t i = 0; i < n; ++i) {
    numbers += bundles->bundle[i].ties * bundles->bundle[i].support.count;
    assert_true(bundles->bundle[i].nnext <= 2); /* neighbours that are left */
  }
  tabi_world_destroy(world);
  tabi_model_destroy(model);
  tabi_builder_destroy(b);
  return numbers;
}

/* n log n, and not the 2 n (2 n + 1) of columns without zeros */
static void test_row_costs_in_proportion(void **state) {
  (void)state;
  for (int32_t n = 10; n <= 320; n *= 2)
    assert_true(count_numbers(n) < 2.5 * 2 * n * log2(2 * n));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bundles_move_like_one),
      cmocka_unit_test(test_bundles_move_like_one_in_stages),
      cmocka_unit_test(test_row_costs_in_proportion),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
