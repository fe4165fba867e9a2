/* test_mjcf_tendons.c - tendons of MJCF against what MuJoCo makes of them: lengths, moment arms and
 * accelerations with all that acts along them.  The models and expected.txt are in mjcf/tendon,
 * with the program that wrote it. */
#include "support/load.h"
#include "support/near.h"
#include "tabi/tabi_io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER  TABI_SOURCE_DIR "/tests/io/mjcf/tendon/"
#define NUMBERS 64

static tabi_model *load(const char *name) {
  char path[512];
  (void)snprintf(path, sizeof path, FOLDER "%.128s", name);
  return load_model(path);
}

/* Where the DOF are in MuJoCo's order, which is that of the joints; the state of expect.py. */
static void set_state(const tabi_model *model, int32_t *order, double *q, double *v) {
  int32_t count = 0;
  tabi_model_initial_q(model, q);
  for (int32_t j = 0; j < tabi_model_njoint(model); ++j) {
    tabi_range range = tabi_model_joint_v(model, j);
    if (range.count == 1) q[tabi_model_joint_q(model, j).first] += 0.2 * sin(count + 1.0);
    for (int32_t k = 0; k < range.count; ++k) {
      v[range.first + k] = 0.7 * sin(2.0 * count + 1);
      order[range.first + k] = count++;
    }
  }
}

static double relative(double x, double expected) {
  return fabs(x - expected) / (1 + fabs(expected));
}

/* lengths and moment arms */
static double compare_tendons(const tabi_model *model, const int32_t *order, const double *q,
                              const double *v, const double *expected) {
  double jacobian[NUMBERS];
  double worst = 0;
  tabi_error error;
  tabi_dynamics *d = tabi_dynamics_create(model, &error);
  assert_non_null(d);
  tabi_dynamics_set_state(d, q, v);
  int32_t n = tabi_model_ntendon(model);
  for (int32_t i = 0; i < n; ++i) {
    double sum = 0;
    worst = fmax(worst, relative(tabi_dynamics_tendon_length(d, i, jacobian), expected[i]));
    for (int32_t k = 0; k < tabi_model_nv(model); ++k)
      sum += cos(order[k]) * jacobian[k];
    worst = fmax(worst, relative(sum, expected[n + i]));
  }
  tabi_dynamics_destroy(d);
  return worst;
}

/* accelerations under forces at the start of a step */
static double compare_motion(const tabi_model *model, tabi_integrator integrator,
                             const int32_t *order, const double *q, const double *v,
                             const double *expected) {
  tabi_error error = {0};
  tabi_world_def def = tabi_world_def_default(model);
  def.integrator = integrator;
  def.timestep = integrator == TABI_EULER ? 1e-3 : 1e-7;
  tabi_world *world = tabi_world_create(model, &def, &error);
  assert_non_null(world);
  assert_int_equal(tabi_world_set_state(world, q, v, &error), TABI_OK);
  for (int32_t i = 0; i < tabi_model_nactuator(model); ++i)
    tabi_world_set_control(world, i, 0.5 * cos(i));
  assert_int_equal(tabi_world_step(world, NULL), TABI_OK);
  double worst = 0;
  double largest = 0;
  for (int32_t k = 0; k < tabi_model_nv(model); ++k) {
    double acceleration = (tabi_world_v(world)[k] - v[k]) / def.timestep;
    worst = fmax(worst, fabs(acceleration - expected[order[k]]));
    largest = fmax(largest, fabs(expected[order[k]]));
  }
  tabi_world_destroy(world);
  return worst / (1 + largest);
}

static void compare(const char *name, const double *expected, int nv, int ntendon) {
  tabi_model *model = load(name);
  int32_t order[NUMBERS] = {0};
  double q[NUMBERS] = {0};
  double v[NUMBERS] = {0};
  assert_int_equal(tabi_model_nv(model), nv);
  assert_int_equal(tabi_model_ntendon(model), ntendon);
  assert_true(nv < NUMBERS && tabi_model_nq(model) < NUMBERS);
  set_state(model, order, q, v);
  const double *acceleration = expected + 2 * (ptrdiff_t)ntendon;
  double tendons = compare_tendons(model, order, q, v, expected);
  double euler = compare_motion(model, TABI_EULER, order, q, v, acceleration);
  /* of a step that is short these differ by what changes in it */
  double implicit = compare_motion(model, TABI_SEMI_IMPLICIT, order, q, v, acceleration);
  double rk4 = compare_motion(model, TABI_RK4, order, q, v, acceleration);
  printf("%-22s length, arms %.1e  acceleration %.1e  (semi-implicit, 0.1 us: %.1e, rk4 %.1e)\n",
         name, tendons, euler, implicit, rk4);
  /* MuJoCo finds the corner of a path through an obstacle to 1e-6 rad */
  double bound = strstr(name, "inside") ? 1e-6 : 1e-9;
  assert_near(tendons, 0, bound);
  assert_near(euler, 0, bound);
  assert_near(implicit, 0, 5e-3);
  assert_near(rk4, 0, 5e-3);
  tabi_model_destroy(model);
}

static void test_models(void **state) {
  (void)state;
  FILE *file = fopen(FOLDER "expected.txt", "r");
  assert_non_null(file);
  static char line[4096];
  int count = 0;
  for (; fgets(line, sizeof line, file); ++count) {
    double number[NUMBERS + 2] = {0};
    int got = 0;
    char *at = strchr(line, ' ');
    assert_non_null(at);
    *at++ = '\0';
    for (char *end = at; got < NUMBERS + 2; at = end) {
      double x = strtod(at, &end);
      if (end == at) break;
      number[got++] = x;
    }
    int nv = (int)number[0];
    int ntendon = (int)number[1];
    assert_int_equal(got, 2 + 2 * ntendon + nv);
    compare(line, number + 2, nv, ntendon);
  }
  (void)fclose(file);
  assert_true(count >= 30);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_models)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
