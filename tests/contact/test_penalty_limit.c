/* test_penalty_limit.c - springs that harden become rigid: the motion of penalty goes to that of
 * exact.  A tall box slides, topples and comes to lie; the humanoid lands on its feet.  Both
 * methods make the same steps; compared is where every link is, at every hundredth of a second.
 *
 * Damping is stiffness times 1 ms, more than critical here: exact does not rebound, so springs must
 * not either.  Shorter steps belong to harder springs: a spring pushes only what is inside already,
 * which may be a step's motion deep. */
#include "support/load.h"
#include "support/near.h"

#include "tabi/tabi_io.h"

#include <stdio.h>

typedef struct setting {
  double stiffness; /* N/m, of the two surfaces together */
  double timestep;  /* s */
} setting;

/* A scene, its surfaces, and what else is changed there. */
typedef struct family {
  const char *scene, *surface[2];
  const char *also;
  double duration; /* s */
} family;

static const family topple = {
    "topple", {"wood", "wood"},
     NULL, 1.0
};
/* from 3 cm above the floor */
static const family landing = {
    "stand", {"ground", "sole"},
     "robots.robot.xyz=[0, 0, 0.67869739811465]", 0.5
};

static scene_world open_run(const family *f, setting how, tabi_contact_kind contact) {
  char text[4][96];
  const char *set[5];
  /* surfaces in a row */
  for (int i = 0; i < 2; ++i) {
    (void)snprintf(text[(ptrdiff_t)2 * i], sizeof text[0], "materials.%s.stiffness=%g",
                   f->surface[i], 2 * how.stiffness);
    (void)snprintf(text[(ptrdiff_t)2 * i + 1], sizeof text[0], "materials.%s.damping=%g",
                   f->surface[i], 2e-3 * how.stiffness);
  }
  for (int i = 0; i < 4; ++i)
    set[i] = text[i];
  set[4] = f->also;
  tabi_scene_def def = tabi_scene_def_default();
  def.set = set;
  def.nset = f->also ? 5 : 4;
  scene_world r = {.scene = load_shipped_scene(f->scene, &def)};
  tabi_world_def world = tabi_scene_world_def(r.scene);
  world.contact = contact;
  world.timestep = how.timestep;
  r.world = open_world(r.scene, &world);
  return r;
}

static void advance(scene_world *r, int64_t steps) {
  for (int64_t i = 0; i < steps; ++i) {
    step_world(r->scene, r->world);
  }
}

/* the largest distance between the same link under both, m */
static double distance(const scene_world *a, const scene_world *b) {
  double max = 0;
  for (int32_t i = 0; i < tabi_model_nlink(tabi_world_model(a->world)); ++i) {
    double x[3];
    double y[3];
    double quat[4];
    tabi_dynamics_link_pose(tabi_world_dynamics(a->world), i, x, quat);
    tabi_dynamics_link_pose(tabi_world_dynamics(b->world), i, y, quat);
    max = fmax(max, sqrt((x[0] - y[0]) * (x[0] - y[0]) + (x[1] - y[1]) * (x[1] - y[1]) +
                         (x[2] - y[2]) * (x[2] - y[2])));
  }
  return max;
}

static double difference(const family *f, setting how) {
  scene_world soft = open_run(f, how, TABI_CONTACT_PENALTY);
  scene_world rigid = open_run(f, how, TABI_CONTACT_EXACT);
  int64_t chunk = (int64_t)lround(0.01 / how.timestep);
  double max = 0;
  for (int64_t i = 0; i < (int64_t)lround(f->duration / 0.01); ++i) {
    advance(&soft, chunk);
    advance(&rigid, chunk);
    max = fmax(max, distance(&soft, &rigid));
  }
  scene_world_close(&soft);
  scene_world_close(&rigid);
  print_message("%-8s k %.0e N/m, dt %.0e s: %.4f mm\n", f->scene, how.stiffness, how.timestep,
                1e3 * max);
  return max;
}

/* ten times harder springs are less than half as far off, and the last are within 0.1 mm */
static void expect_limit(const family *f, double timestep) {
  double before = INFINITY;
  const double stiffness[3] = {1e6, 1e7, 1e8};
  for (int i = 0; i < 3; ++i) {
    double now = difference(f, (setting){stiffness[i], timestep});
    assert_true(now < before / 2);
    before = now;
  }
  assert_true(before < 1e-4);
}

static void test_topple(void **state) {
  (void)state;
  expect_limit(&topple, 1e-4);
}

static void test_landing(void **state) {
  (void)state;
  expect_limit(&landing, 1e-3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_topple),
      cmocka_unit_test(test_landing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
