/* test_plain.c - a robot in plain numbers is the same robot: poses, energy and momentum that are
 * computed from them alone agree with tabi's; text is read as it was written; the judge sees closed
 * joints and loops closed, and an open one as wide as it is. */
#include "arena.h"
#include "judge.h"
#include "plain_model.h"
#include "support/near.h"
#include "support/rng.h"
#include "tabi/tabi_io.h"

#include <stdlib.h>
#include <string.h>

typedef struct robot {
  tabi_model *model;
  tabi_dynamics *dynamics;
  double q[64], v[64]; /* more than it has */
  tbi_plain plain;
} robot;

static void open_robot(robot *r) {
  *r = (robot){.model = tabi_model_load(TABI_SOURCE_DIR "/models/humanoid36.urdf", NULL, NULL)};
  assert_non_null(r->model);
  r->dynamics = tabi_dynamics_create(r->model, NULL);
  assert_true(tabi_model_nq(r->model) <= 64);
  rng random = rng_make(3);
  for (int32_t k = 0; k < tabi_model_nv(r->model); ++k)
    r->v[k] = rng_unit(&random) - 0.5;
  tabi_model_start(r->model, r->q);
  tabi_model_integrate(r->model, r->q, r->v, 1, r->q);
  for (int32_t k = 0; k < tabi_model_nv(r->model); ++k)
    r->v[k] = rng_unit(&random) - 0.5;
}

static void close_robot(robot *r) {
  tbi_plain_free(&r->plain);
  tabi_dynamics_destroy(r->dynamics);
  tabi_model_destroy(r->model);
}

static void same_robot(void **state) {
  (void)state;
  robot r;
  open_robot(&r);
  assert_null(tbi_plain_from_model(&r.plain, r.model, r.dynamics, r.q, r.v, NULL));
  tbi_plain_state *at = calloc((size_t)r.plain.nbody, sizeof *at);
  tbi_plain_states(r.model, r.dynamics, at);
  double energy = tabi_dynamics_kinetic(r.dynamics) + tabi_dynamics_potential(r.dynamics);
  double own = tbi_judge_energy(&r.plain, at), lin[3], ang[3];
  // tabi's has the rotors of motors in it
  for (int32_t i = 0; i < r.plain.nbody; ++i)
    own += r.plain.body[i].armature * r.plain.body[i].v * r.plain.body[i].v / 2;
  assert_near(own, energy, 1e-10 * fabs(energy));
  tabi_dynamics_momentum(r.dynamics, lin, ang);
  for (int32_t i = 0; i < r.plain.nbody; ++i)
    for (int k = 0; k < 3; ++k)
      lin[k] -= r.plain.body[i].mass * at[i].linear[k];
  assert_near(fabs(lin[0]) + fabs(lin[1]) + fabs(lin[2]), 0, 1e-10);
  free(at);
  close_robot(&r);
}

static void gaps(void **state) {
  (void)state;
  tabi_error err = {0};
  tbi_bench_scene base;
  assert_int_equal(tbi_arena_loops(&base, 2, &err), TABI_OK);
  tabi_dynamics *dynamics = tabi_dynamics_create(base.model, NULL);
  double *v = calloc((size_t)tabi_model_nv(base.model), sizeof(double));
  tbi_plain plain;
  assert_null(tbi_plain_from_model(&plain, base.model, dynamics, base.q, v, NULL));
  assert_int_equal(plain.ntie, 2);
  tbi_plain_state at[6];
  assert_int_equal(plain.nbody, 6);
  tbi_plain_states(base.model, dynamics, at);
  assert_near(tbi_judge_gap(&plain, at), 0, 1e-15);
  // a rocker, 0.304 m long, that has swung: its hinge is closed, and its tie is open
  int32_t rocker = plain.tie[1].body[1];
  base.q[rocker] = 0.1;
  tabi_dynamics_set_state(dynamics, base.q, v);
  tbi_plain_states(base.model, dynamics, at);
  assert_near(tbi_judge_gap(&plain, at), 2 * sin(0.05) * hypot(0.05, 0.3), 1e-12);
  // a body that was carried off: its hinge is open too
  at[rocker].com[1] += 0.5;
  assert_near(tbi_judge_gap(&plain, at), hypot(0.5, 2 * sin(0.05) * hypot(0.05, 0.3)), 1e-12);
  free(v);
  tbi_plain_free(&plain);
  tabi_dynamics_destroy(dynamics);
  tbi_bench_scene_free(&base);
}

/* Returns what is wrong with a text. */
static const char *read_text(tbi_plain *plain, const char *text) {
  FILE *file = fmemopen((void *)text, strlen(text), "r");
  if (!file) return "no memory";
  const char *wrong = tbi_plain_read(plain, file);
  (void)fclose(file);
  return wrong;
}

static void text_both_ways(void **state) {
  (void)state;
  robot r;
  open_robot(&r);
  (void)tbi_plain_from_model(&r.plain, r.model, r.dynamics, r.q, r.v, NULL);
  const int32_t pair[2] = {3, 7};
  memcpy(r.plain.exclusion[0], pair, sizeof pair);
  r.plain.nexclusion = 1;
  const tbi_plain_tie tie = {
      {5,         -1       },
      {{1, 2, 3}, {4, 5, 6}}
  };
  free(r.plain.tie);
  r.plain.tie = malloc(sizeof tie);
  memcpy(r.plain.tie, &tie, sizeof tie);
  r.plain.ntie = 1;
  r.plain.nstep = 3;
  r.plain.aim = calloc(3 * (size_t)r.plain.nbody, sizeof(double));
  r.plain.aim[r.plain.nbody + 2] = 0.1;
  char *text[2] = {NULL, NULL};
  tbi_plain again = r.plain;
  for (int i = 0; i < 2; ++i) {
    size_t size = 0;
    FILE *file = open_memstream(&text[i], &size);
    assert_true(tbi_plain_write(&again, file));
    (void)fclose(file);
    if (i == 0) assert_null(read_text(&again, text[0]));
  }
  assert_int_equal(again.nbody, r.plain.nbody);
  assert_int_equal(again.nstep, 3);
  assert_int_equal(again.exclusion[0][1], 7);
  assert_int_equal(again.tie[0].body[1], -1);
  assert_near(again.tie[0].pos[1][2], 6, 0);
  assert_near(again.aim[again.nbody + 2], 0.1, 0);
  assert_string_equal(text[0], text[1]);
  free(text[0]);
  free(text[1]);
  tbi_plain_free(&again);
  close_robot(&r);
}

static void bad_text(void **state) {
  (void)state;
  static const char *const texts[] = {
      "world 0 0 0 -9.81\n",
      "wrold 1e-3 0 0 -9.81\n",
      "world 1e-3 0 0\n",
      "world 1e-3 0 0 -9.81\nbody 0 0 0\n",
      "world 1e-3 0 0 -9.81\nshape 5 1 0 0 0 1 0 0 0 1 1 1 1 0 1 1\n",
      "world 1e-3 0 0 -9.81\ntie -1 -1 0 0 0 0 0 0\n",
      "world 1e-3 0 0 -9.81\nexclude 0 1\n"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; ++i) {
    tbi_plain plain = {0};
    assert_non_null(read_text(&plain, texts[i]));
    tbi_plain_free(&plain);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(same_robot),
      cmocka_unit_test(gaps),
      cmocka_unit_test(text_both_ways),
      cmocka_unit_test(bad_text),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
