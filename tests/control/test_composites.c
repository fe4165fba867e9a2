/* test_composites.c - composite bodies stand for all bodies: CoM, points and forces of a robot of
 * which only some joints move, against the dynamics of all bodies. */
#include "support/load.h"
#include "support/near.h"
#include "support/rng.h"

#include "control/composites.h"
#include "tabi/tabi_io.h"

#include <string.h>

enum { MAX_Q = 128, TRIALS = 20 };

static v3 com_of(const tabi_dynamics *d) {
  v3 moment = v3_zero();
  double mass = 0;
  for (int32_t i = 0; i < d->model->nbody; ++i) {
    moment = v3_add(moment, v4_to(d->body[i].inertia.h));
    mass += d->model->body[i].mass;
  }
  return v3_axpy(tbi_tree_origin(d, 0), 1 / mass, moment);
}

/* A posture: the base anywhere, joints that move anywhere, the others as they were. */
static void draw(rng *random, const tabi_model *model, const bool *moves, double *q) {
  for (int32_t i = 0; i < 3; ++i)
    q[i] = rng_between(random, -2, 2);
  q4 turn = q_exp((v3){rng_between(random, -2, 2), rng_between(random, -2, 2), 0.5});
  q_store(turn, q + 3);
  for (int32_t i = 7; i < tabi_model_nq(model); ++i) {
    if (moves[i]) q[i] = rng_between(random, -0.5, 0.5);
  }
}

/* What the floating joint has to give: the same by inverse dynamics of all bodies. */
static void compare_push(tbi_composites *composites, tabi_dynamics *d, rng *random, const double *q,
                         const bool *moves) {
  const tabi_model *model = d->model;
  double v[MAX_Q] = {0};
  double a[MAX_Q] = {0};
  double tau[MAX_Q];
  for (int32_t i = 0; i < model->nbody; ++i) {
    const tbi_body *body = &model->body[i];
    for (int32_t k = body->v; k < body->v + body->nv; ++k) {
      if (body->nv == 1 && !moves[body->q]) continue;
      v[k] = rng_between(random, -2, 2);
      a[k] = rng_between(random, -5, 5);
    }
  }
  tabi_dynamics_set_state(d, q, v);
  tabi_dynamics_inverse(d, a, tau);
  double gravity[3];
  tabi_model_gravity(model, gravity);
  v3 force;
  v3 moment;
  (void)tbi_composites_com(composites, q);
  tbi_composites_wrench(composites, v, a, v3_load(gravity), &force, &moment);
  assert_near(v3_norm(v3_sub(force, v3_load(tau))), 0, 1e-10);
  assert_near(v3_norm(v3_sub(moment, v3_load(tau + 3))), 0, 1e-10);
}

/* Every so many joints move, among them sliding ones; the rest stand anywhere. */
static void compare(const tabi_model *model, int every, uint64_t seed) {
  tabi_error err = {0};
  tabi_dynamics *d = tabi_dynamics_create(model, &err);
  double q[MAX_Q];
  double v[MAX_Q] = {0};
  bool moves[MAX_Q] = {false};
  bool all[MAX_Q];
  rng random = rng_make(seed);
  assert_true(tabi_model_nq(model) <= MAX_Q);
  memset(all, true, sizeof all);
  draw(&random, model, all, q);
  for (int32_t i = 7; i < tabi_model_nq(model); i += every)
    moves[i] = true;
  tbi_composites composites;
  assert_int_equal(tbi_composites_make(&composites, d, 0, q, moves, &err), TABI_OK);
  assert_int_equal(composites.count, 1 + (tabi_model_nq(model) - 7 + every - 1) / every);
  int32_t foot = tabi_model_find_link(model, "l_foot");
  tbi_frame at = tbi_link_frame(d, foot);
  tbi_composite_point point =
      tbi_composites_attach(&composites, d, tabi_model_link_body(model, foot), at.pos);
  for (int i = 0; i < TRIALS; ++i) {
    draw(&random, model, moves, q);
    tabi_dynamics_set_state(d, q, v);
    v3 centre = tbi_composites_com(&composites, q);
    assert_near(v3_norm(v3_sub(centre, com_of(d))), 0, 1e-13);
    v3 found = tbi_composites_point(&composites, &point);
    assert_near(v3_norm(v3_sub(found, tbi_link_frame(d, foot).pos)), 0, 1e-13);
    compare_push(&composites, d, &random, q, moves);
  }
  tbi_composites_free(&composites);
  tabi_dynamics_destroy(d);
}

static void test_some_joints(void **state) {
  (void)state;
  tabi_model *model = load_shipped_model("humanoid36");
  for (int every = 1; every <= 6; ++every)
    compare(model, every, (uint64_t)every);
  tabi_model_destroy(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_some_joints)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
