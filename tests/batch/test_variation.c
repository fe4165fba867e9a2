/* test_variation.c - values that differ between worlds act as if the model had them. */
#include "stand.h"
#include "support/near.h"

#include <string.h>

static tabi_batch_def varied(int32_t worlds, uint32_t fields) {
  tabi_batch_def def = tabi_batch_def_default();
  def.worlds = worlds;
  def.threads = 1;
  def.vary = fields;
  return def;
}

/* arrays that begin with the values of the model change nothing that matters */
static void values_of_the_model_change_nothing(void **state) {
  (void)state;
  stand t = stand_open();
  uint32_t all = 0;
  for (uint32_t f = TABI_BATCH_MASS; f < TABI_BATCH_DELAY; ++f)
    all |= 1u << f;
  tabi_batch *a = stand_batch(&t, varied(2, 0));
  tabi_batch *b = stand_batch(&t, varied(2, all));
  assert_int_equal(tabi_batch_step(a, 200, NULL), 0);
  assert_int_equal(tabi_batch_step(b, 200, NULL), 0);
  assert_near_n(tabi_batch_array(a, TABI_BATCH_Q, NULL), tabi_batch_array(b, TABI_BATCH_Q, NULL),
                (size_t)t.nq, 1e-8);
  tabi_batch_destroy(a);
  tabi_batch_destroy(b);
  stand_close(&t);
}

/* all masses and inertias doubled, servos and friction too, gravity as it is: the same motion in
 * the air, where contacts do not matter */
static void masses_are_obeyed(void **state) {
  (void)state;
  stand t = stand_open();
  uint32_t fields = 1u << TABI_BATCH_MASS | 1u << TABI_BATCH_INERTIA | 1u << TABI_BATCH_GRAVITY;
  tabi_batch *b = stand_batch(&t, varied(3, fields));
  int32_t nbody;
  int32_t nsix;
  double *mass = tabi_batch_array(b, TABI_BATCH_MASS, &nbody);
  double *inertia = tabi_batch_array(b, TABI_BATCH_INERTIA, &nsix);
  double *gravity = tabi_batch_array(b, TABI_BATCH_GRAVITY, NULL);
  double *q = tabi_batch_array(b, TABI_BATCH_Q, NULL);
  const double *v = tabi_batch_array(b, TABI_BATCH_V, NULL);
  double total = 0;
  for (int32_t i = 0; i < nbody; ++i)
    total += mass[i];
  assert_near(total, tabi_model_mass(t.model), 1e-9);
  for (int32_t i = 0; i < nbody; ++i)
    mass[nbody + i] *= 3;
  for (int32_t i = 0; i < nsix; ++i)
    inertia[nsix + i] *= 3;
  gravity[6 + 2] = -1.62;
  for (int32_t i = 0; i < 3; ++i)
    q[(ptrdiff_t)i * t.nq + 2] += 1;
  tabi_batch_step(b, 100, NULL);
  /* the whole falls as fast; a heavier one bends its joints alike, since nothing loads them */
  assert_near(v[2], -0.981, 0.02);
  assert_near(v[(ptrdiff_t)t.nv + 2], -0.981, 0.02);
  assert_near(v[2 * (ptrdiff_t)t.nv + 2], -0.162, 0.02);
  tabi_batch_destroy(b);
  stand_close(&t);
}

/* a push of so many N s gives the robot its momentum */
static void pushes_are_obeyed(void **state) {
  (void)state;
  stand t = stand_open();
  tabi_batch_def def = varied(2, 1u << TABI_BATCH_GRAVITY);
  def.push_link = tabi_model_find_link(t.model, "robot/chest");
  assert_true(def.push_link >= 0);
  tabi_batch *b = stand_batch(&t, def);
  double *gravity = tabi_batch_array(b, TABI_BATCH_GRAVITY, NULL);
  double *push = tabi_batch_array(b, TABI_BATCH_PUSH, NULL);
  double *q = tabi_batch_array(b, TABI_BATCH_Q, NULL);
  memset(gravity, 0, 6 * sizeof *gravity);
  push[6] = 100; /* N along x, of the second */
  q[2] += 1;
  q[t.nq + 2] += 1;
  tabi_batch_step(b, 100, NULL);
  tabi_world *world = tabi_world_create(t.model, &t.world_def, NULL);
  for (int32_t i = 0; i < 2; ++i) {
    double lin[3];
    double ang[3];
    assert_int_equal(tabi_batch_save(b, i, world, NULL), TABI_OK);
    tabi_dynamics_momentum(tabi_world_dynamics(world), lin, ang);
    assert_near(lin[0], i == 0 ? 0 : 10, 0.05);
  }
  tabi_world_destroy(world);
  tabi_batch_destroy(b);
  stand_close(&t);
}

/* a target that acts d steps later: the motion is the one without delay, d steps later */
static void delays_are_obeyed(void **state) {
  (void)state;
  enum { LATE = 7 };
  stand t = stand_open();
  tabi_batch_def def = varied(2, 1u << TABI_BATCH_DELAY | 1u << TABI_BATCH_GRAVITY);
  def.max_delay = 0.02;
  tabi_batch *b = stand_batch(&t, def);
  double *delay = tabi_batch_array(b, TABI_BATCH_DELAY, NULL);
  double *gravity = tabi_batch_array(b, TABI_BATCH_GRAVITY, NULL);
  double *target = tabi_batch_array(b, TABI_BATCH_TARGET, NULL);
  double *q = tabi_batch_array(b, TABI_BATCH_Q, NULL);
  int32_t knee = tabi_model_joint_q(t.model, tabi_model_find_joint(t.model, "robot/l_knee")).first;
  int32_t dof = tabi_model_joint_v(t.model, tabi_model_find_joint(t.model, "robot/l_knee")).first;
  memset(gravity, 0, 6 * sizeof *gravity);
  delay[1] = LATE * 1e-3;
  q[2] += 1;
  q[t.nq + 2] += 1;
  tabi_batch_step(b, 1, NULL);
  double path[2][40];
  target[dof] += 0.3;
  target[t.nv + dof] += 0.3;
  for (int i = 0; i < 40; ++i) {
    tabi_batch_step(b, 1, NULL);
    path[0][i] = q[knee];
    path[1][i] = q[t.nq + knee];
  }
  assert_true(fabs(path[0][20] - path[0][0]) > 0.01);
  for (int i = LATE; i < 40; ++i)
    assert_near(path[1][i], path[0][i - LATE], 1e-9);
  tabi_batch_destroy(b);
  stand_close(&t);
}

/* on ice the feet slip away */
static void friction_is_obeyed(void **state) {
  (void)state;
  stand t = stand_open();
  tabi_batch_def def = varied(2, 1u << TABI_BATCH_FRICTION);
  def.push_link = tabi_model_find_link(t.model, "robot/pelvis");
  tabi_batch *b = stand_batch(&t, def);
  double *friction = tabi_batch_array(b, TABI_BATCH_FRICTION, NULL);
  double *push = tabi_batch_array(b, TABI_BATCH_PUSH, NULL);
  const double *q = tabi_batch_array(b, TABI_BATCH_Q, NULL);
  double start = q[0];
  friction[1] = 0.01;
  push[0] = push[6] = 60;
  tabi_batch_step(b, 300, NULL);
  assert_true(fabs(q[0] - start) < 0.02);
  assert_true(fabs(q[t.nq] - start) > 0.03);
  tabi_batch_destroy(b);
  stand_close(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_of_the_model_change_nothing),
      cmocka_unit_test(masses_are_obeyed),
      cmocka_unit_test(pushes_are_obeyed),
      cmocka_unit_test(delays_are_obeyed),
      cmocka_unit_test(friction_is_obeyed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
