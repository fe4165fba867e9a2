/* test_neutral_scene.c - a robot as an engine-neutral scene is the same robot: poses, energy and
 * momentum that are computed from them alone agree with tabi's; text is read as it was written; the
 * accuracy measures see closed joints and loops closed, and an open one as wide as it is. */
#include "accuracy.h"
#include "engine_scenes.h"
#include "neutral_export.h"
#include "support/near.h"
#include "support/rng.h"
#include "tabi/tabi_io.h"

#include <stdlib.h>
#include <string.h>

typedef struct robot {
  tabi_model *model;
  tabi_dynamics *dynamics;
  double q[64], v[64]; /* more than it has */
  tbi_neutral_scene neutral;
} robot;

static void open_robot(robot *r) {
  *r = (robot){.model = tabi_model_load(TABI_SOURCE_DIR "/models/humanoid36.urdf", NULL, NULL)};
  assert_non_null(r->model);
  r->dynamics = tabi_dynamics_create(r->model, NULL);
  assert_true(tabi_model_nq(r->model) <= 64);
  rng random = rng_make(3);
  for (int32_t k = 0; k < tabi_model_nv(r->model); ++k)
    r->v[k] = rng_unit(&random) - 0.5;
  tabi_model_initial_q(r->model, r->q);
  tabi_model_integrate(r->model, r->q, r->v, 1, r->q);
  for (int32_t k = 0; k < tabi_model_nv(r->model); ++k)
    r->v[k] = rng_unit(&random) - 0.5;
}

static void close_robot(robot *r) {
  tbi_neutral_scene_free(&r->neutral);
  tabi_dynamics_destroy(r->dynamics);
  tabi_model_destroy(r->model);
}

static void same_robot(void **state) {
  (void)state;
  robot r;
  open_robot(&r);
  assert_null(tbi_neutral_scene_from_model(&r.neutral, r.model, r.dynamics, r.q, r.v, NULL));
  tbi_neutral_state *at = calloc((size_t)r.neutral.nbody, sizeof *at);
  tbi_neutral_states(r.model, r.dynamics, at);
  double energy = tabi_dynamics_kinetic(r.dynamics) + tabi_dynamics_potential(r.dynamics);
  double own = tbi_accuracy_energy(&r.neutral, at), lin[3], ang[3];
  // tabi's has the rotors of motors in it
  for (int32_t i = 0; i < r.neutral.nbody; ++i)
    own += r.neutral.body[i].armature * r.neutral.body[i].v * r.neutral.body[i].v / 2;
  assert_near(own, energy, 1e-10 * fabs(energy));
  tabi_dynamics_momentum(r.dynamics, lin, ang);
  for (int32_t i = 0; i < r.neutral.nbody; ++i)
    for (int k = 0; k < 3; ++k)
      lin[k] -= r.neutral.body[i].mass * at[i].linear[k];
  assert_near(fabs(lin[0]) + fabs(lin[1]) + fabs(lin[2]), 0, 1e-10);
  free(at);
  close_robot(&r);
}

static void gaps(void **state) {
  (void)state;
  tabi_error err = {0};
  tbi_bench_scene base;
  assert_int_equal(tbi_bench_scene_loops(&base, 2, &err), TABI_OK);
  tabi_dynamics *dynamics = tabi_dynamics_create(base.model, NULL);
  double *v = calloc((size_t)tabi_model_nv(base.model), sizeof(double));
  tbi_neutral_scene neutral;
  assert_null(tbi_neutral_scene_from_model(&neutral, base.model, dynamics, base.q, v, NULL));
  assert_int_equal(neutral.nconnection, 2);
  tbi_neutral_state at[6];
  assert_int_equal(neutral.nbody, 6);
  tbi_neutral_states(base.model, dynamics, at);
  assert_near(tbi_accuracy_joint_gap(&neutral, at), 0, 1e-15);
  // a rocker, 0.304 m long, that has swung: its hinge is closed, and its connection is open
  int32_t rocker = neutral.connection[1].body[1];
  base.q[rocker] = 0.1;
  tabi_dynamics_set_state(dynamics, base.q, v);
  tbi_neutral_states(base.model, dynamics, at);
  assert_near(tbi_accuracy_joint_gap(&neutral, at), 2 * sin(0.05) * hypot(0.05, 0.3), 1e-12);
  // a body that was carried off: its hinge is open too
  at[rocker].com[1] += 0.5;
  assert_near(tbi_accuracy_joint_gap(&neutral, at), hypot(0.5, 2 * sin(0.05) * hypot(0.05, 0.3)),
              1e-12);
  free(v);
  tbi_neutral_scene_free(&neutral);
  tabi_dynamics_destroy(dynamics);
  tbi_bench_scene_free(&base);
}

/* Returns what is wrong with a text. */
static const char *read_text(tbi_neutral_scene *neutral, const char *text) {
  FILE *file = fmemopen((void *)text, strlen(text), "r");
  if (!file) return "no memory";
  const char *wrong = tbi_neutral_scene_read(neutral, file);
  (void)fclose(file);
  return wrong;
}

static void text_both_ways(void **state) {
  (void)state;
  robot r;
  open_robot(&r);
  (void)tbi_neutral_scene_from_model(&r.neutral, r.model, r.dynamics, r.q, r.v, NULL);
  const int32_t pair[2] = {3, 7};
  memcpy(r.neutral.exclusion[0], pair, sizeof pair);
  r.neutral.nexclusion = 1;
  const tbi_neutral_connection connection = {
      {5,         -1       },
      {{1, 2, 3}, {4, 5, 6}}
  };
  free(r.neutral.connection);
  r.neutral.connection = malloc(sizeof connection);
  memcpy(r.neutral.connection, &connection, sizeof connection);
  r.neutral.nconnection = 1;
  r.neutral.nstep = 3;
  r.neutral.aim = calloc(3 * (size_t)r.neutral.nbody, sizeof(double));
  r.neutral.aim[r.neutral.nbody + 2] = 0.1;
  char *text[2] = {NULL, NULL};
  tbi_neutral_scene again = r.neutral;
  for (int i = 0; i < 2; ++i) {
    size_t size = 0;
    FILE *file = open_memstream(&text[i], &size);
    assert_true(tbi_neutral_scene_write(&again, file));
    (void)fclose(file);
    if (i == 0) assert_null(read_text(&again, text[0]));
  }
  assert_int_equal(again.nbody, r.neutral.nbody);
  assert_int_equal(again.nstep, 3);
  assert_int_equal(again.exclusion[0][1], 7);
  assert_int_equal(again.connection[0].body[1], -1);
  assert_near(again.connection[0].pos[1][2], 6, 0);
  assert_near(again.aim[again.nbody + 2], 0.1, 0);
  assert_string_equal(text[0], text[1]);
  free(text[0]);
  free(text[1]);
  tbi_neutral_scene_free(&again);
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
      "world 1e-3 0 0 -9.81\nconnection -1 -1 0 0 0 0 0 0\n",
      "world 1e-3 0 0 -9.81\nexclude 0 1\n"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; ++i) {
    tbi_neutral_scene neutral = {0};
    assert_non_null(read_text(&neutral, texts[i]));
    tbi_neutral_scene_free(&neutral);
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
