/* test_status.c - what a world refuses, and that a refused step leaves no trace. */
#include "support/near.h"
#include "support/scene_build.h"

#include <stdlib.h>
#include <string.h>

/* a box on a plane; an arm with a motor beside it */
typedef struct yard {
  scene s;
  int32_t box, arm, motor;
} yard;

static yard open_yard(void) {
  yard y = {.s = scene_begin()};
  int32_t stuff = scene_material(&y.s, 0.5, 0);
  scene_plane(&y.s, 0, stuff);
  y.box = scene_box(&y.s, 2, v3_make(0.2, 0.2, 0.2), v3_make(0, 0, 0.1), stuff);
  y.arm = scene_link(
      &y.s, 1, v3_make(0.3, 0, 0), v3_make(0.01, 0.01, 0.01),
      scene_hinge(TABI_JOINT_CONTINUOUS, TABI_WORLD, v3_make(0, 2, 2), v3_make(0, 1, 0)));
  tabi_actuator_def motor = tabi_actuator_def_default();
  motor.name = "motor";
  motor.joint = tabi_builder_find_joint(y.s.builder, "joint1");
  y.motor = tabi_builder_add_actuator(y.s.builder, &motor);
  (void)scene_def(&y.s);
  return y;
}

/* everything that decides the next step, and its hash */
typedef struct memory {
  size_t size;
  void *bytes;
  uint64_t hash;
} memory;

static memory remember(const tabi_world *world) {
  memory m = {.size = tabi_world_snapshot_size(world), .hash = tabi_world_hash(world)};
  m.bytes = malloc(m.size);
  assert_non_null(m.bytes);
  tabi_world_save(world, m.bytes);
  return m;
}

static void assert_unchanged(const tabi_world *world, memory *m) {
  memory now = remember(world);
  assert_int_equal(now.size, m->size);
  assert_memory_equal(now.bytes, m->bytes, m->size);
  assert_true(now.hash == m->hash);
  free(now.bytes);
  free(m->bytes);
}

static void assert_says(const char *message, const char *word) {
  if (!strstr(message, word)) fail_msg("'%s' does not speak of '%s'", message, word);
}

typedef void spoil_fn(tabi_world_def *def);
static void spoil_size(tabi_world_def *def) { def->def_size = 0; }
static void spoil_contact(tabi_world_def *def) { def->contact = TABI_CONTACT_COUNT; }
static void spoil_integrator(tabi_world_def *def) { def->integrator = TABI_INTEGRATOR_COUNT; }
static void spoil_step_zero(tabi_world_def *def) { def->timestep = 0; }
static void spoil_step_less(tabi_world_def *def) { def->timestep = -1e-3; }
static void spoil_step_long(tabi_world_def *def) { def->timestep = 1; }
static void spoil_step_nan(tabi_world_def *def) { def->timestep = NAN; }
static void spoil_gravity(tabi_world_def *def) { def->gravity[1] = NAN; }
static void spoil_gravity_more(tabi_world_def *def) { def->gravity[1] = INFINITY; }
static void spoil_tolerance_nan(tabi_world_def *def) { def->tolerance = NAN; }
static void spoil_iterations(tabi_world_def *def) { def->iterations = 1; }
static void spoil_contacts(tabi_world_def *def) { def->max_contacts = -1; }
static void spoil_depth(tabi_world_def *def) { def->allowed_depth = 1.5; }
static void spoil_correction(tabi_world_def *def) { def->correction = 1.5; }
static void spoil_speed(tabi_world_def *def) { def->correction_speed = -1; }
static void spoil_speed_nan(tabi_world_def *def) { def->correction_speed = NAN; }
static void spoil_warm(tabi_world_def *def) { def->warm_start = 2; }

static void bad_defs(void **state) {
  (void)state;
  static const struct {
    spoil_fn *spoil;
    const char *word;
  } cases[] = {
      {spoil_size,          "default"         },
      {spoil_contact,       "contact"         },
      {spoil_integrator,    "integrator"      },
      {spoil_step_zero,     "timestep"        },
      {spoil_step_less,     "timestep"        },
      {spoil_step_long,     "timestep"        },
      {spoil_step_nan,      "timestep"        },
      {spoil_gravity,       "gravity"         },
      {spoil_gravity_more,  "gravity"         },
      {spoil_tolerance_nan, "tolerance"       },
      {spoil_iterations,    "iterations"      },
      {spoil_contacts,      "max_contacts"    },
      {spoil_depth,         "allowed_depth"   },
      {spoil_correction,    "correction"      },
      {spoil_speed,         "correction_speed"},
      {spoil_speed_nan,     "correction_speed"},
      {spoil_warm,          "warm_start"      },
  };
  yard y = open_yard();
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    tabi_world_def def = tabi_world_def_default(y.s.model);
    cases[i].spoil(&def);
    tabi_error err = {.status = TABI_OK};
    assert_null(tabi_world_create(y.s.model, &def, &err));
    assert_int_equal(err.status, TABI_ERR_ARGUMENT);
    assert_says(err.message, cases[i].word);
    assert_null(tabi_world_create(y.s.model, &def, NULL));
  }
  scene_close(&y.s);
}

static void names(void **state) {
  (void)state;
  for (int32_t i = 0; i < TABI_CONTACT_COUNT; ++i)
    assert_int_equal(tabi_contact_find(tabi_contact_name((tabi_contact_kind)i)), i);
  for (int32_t i = 0; i < TABI_INTEGRATOR_COUNT; ++i)
    assert_int_equal(tabi_integrator_find(tabi_integrator_name((tabi_integrator)i)), i);
  assert_int_equal(tabi_contact_find("cones"), TABI_NONE);
  assert_int_equal(tabi_integrator_find(""), TABI_NONE);
}

/* NaN, infinite and absurd joint forces are refused and the joint is named */
static void bad_forces(void **state) {
  (void)state;
  const double bad[4] = {NAN, INFINITY, -INFINITY, 1e300};
  yard y = open_yard();
  scene_open(&y.s, NULL);
  scene_run(&y.s, 37);
  double tau[7] = {0};
  for (int i = 0; i < 4; ++i) {
    memory m = remember(y.s.world);
    tau[6] = bad[i];
    assert_int_equal(tabi_world_step(y.s.world, tau), TABI_ERR_ARGUMENT);
    const tabi_error *err = tabi_world_error(y.s.world);
    assert_int_equal(err->status, TABI_ERR_ARGUMENT);
    assert_says(err->message, "joint1");
    assert_says(err->message, "37");
    assert_unchanged(y.s.world, &m);
  }
  tau[6] = 1;
  assert_int_equal(tabi_world_step(y.s.world, tau), TABI_OK);
  assert_int_equal(tabi_world_error(y.s.world)->status, TABI_OK);
  scene_close(&y.s);
}

/* the same of an actuator's input */
static void bad_controls(void **state) {
  (void)state;
  const double bad[4] = {NAN, INFINITY, -INFINITY, 1e300};
  yard y = open_yard();
  scene_open(&y.s, NULL);
  scene_run(&y.s, 5);
  for (int i = 0; i < 4; ++i) {
    tabi_world_set_control(y.s.world, y.motor, bad[i]);
    memory m = remember(y.s.world);
    assert_int_equal(tabi_world_step(y.s.world, NULL), TABI_ERR_ARGUMENT);
    assert_says(tabi_world_error(y.s.world)->message, "motor");
    assert_unchanged(y.s.world, &m);
  }
  tabi_world_set_control(y.s.world, y.motor, 0.5);
  scene_run(&y.s, 1);
  scene_close(&y.s);
}

static void bad_states(void **state) {
  (void)state;
  yard y = open_yard();
  scene_open(&y.s, NULL);
  double good_q[8];
  double good_v[7];
  memcpy(good_q, tabi_world_q(y.s.world), sizeof good_q);
  memcpy(good_v, tabi_world_v(y.s.world), sizeof good_v);
  const struct {
    int q, v;
    double value;
  } cases[] = {
      {0,  -1, NAN     },
      {7,  -1, INFINITY},
      {-1, 0,  1e12    },
      {-1, 6,  -1e12   },
      {-1, 3,  NAN     },
      {3,  -1, 0       }  /* the quaternion is (1, 0, 0, 0) */
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    double q[8];
    double v[7];
    memcpy(q, good_q, sizeof q);
    memcpy(v, good_v, sizeof v);
    if (cases[i].q >= 0) q[cases[i].q] = cases[i].value;
    if (cases[i].v >= 0) v[cases[i].v] = cases[i].value;
    memory m = remember(y.s.world);
    tabi_error err = {.status = TABI_OK};
    assert_int_equal(tabi_world_set_state(y.s.world, q, v, &err), TABI_ERR_ARGUMENT);
    assert_int_equal(err.status, TABI_ERR_ARGUMENT);
    assert_says(err.message, "state");
    assert_unchanged(y.s.world, &m);
  }
  /* quaternions are made unit */
  good_q[3] = 2;
  assert_int_equal(tabi_world_set_state(y.s.world, good_q, good_v, NULL), TABI_OK);
  assert_near(scene_q(&y.s, y.box)[3], 1, 1e-15);
  scene_close(&y.s);
}

/* room for one contact, and four come */
static void capacity(void **state) {
  (void)state;
  for (int contact = 0; contact < TABI_CONTACT_GAIT; ++contact) {
    yard y = open_yard();
    tabi_world_def def = tabi_world_def_default(y.s.model);
    def.contact = (tabi_contact_kind)contact;
    def.max_contacts = 1;
    scene_open(&y.s, &def);
    memory m = remember(y.s.world);
    assert_int_equal(tabi_world_step(y.s.world, NULL), TABI_ERR_CAPACITY);
    assert_says(tabi_world_error(y.s.world)->message, "max_contacts");
    assert_unchanged(y.s.world, &m);
    assert_int_equal(tabi_world_steps(y.s.world), 0);
    /* in the air there is room enough */
    const double up[7] = {0, 0, 5, 1};
    scene_set(&y.s, y.box, up, NULL);
    scene_run(&y.s, 100);
    scene_close(&y.s);
  }
}

/* An explicit servo far too stiff for the step blows up: the last state that was good stays, the
 * message names the link and the step. */
static void divergence(void **state) {
  (void)state;
  yard y = open_yard();
  scene_open(&y.s, NULL);
  tabi_servo servo = {.kp = 1e9, .kd = 0, .target = 1};
  tabi_world_set_servo(y.s.world, scene_joint(&y.s, y.arm), &servo);
  tabi_status status = TABI_OK;
  for (int k = 0; k < 1000 && status == TABI_OK; ++k) {
    memory m = remember(y.s.world);
    status = tabi_world_step(y.s.world, NULL);
    if (status == TABI_OK) {
      free(m.bytes);
    } else {
      assert_unchanged(y.s.world, &m);
    }
  }
  assert_int_equal(status, TABI_ERR_DIVERGED);
  assert_says(tabi_world_error(y.s.world)->message, "link1");
  for (int32_t i = 0; i < tabi_model_nq(y.s.model); ++i)
    assert_true(isfinite(tabi_world_q(y.s.world)[i]));
  for (int32_t i = 0; i < tabi_model_nv(y.s.model); ++i)
    assert_true(isfinite(tabi_world_v(y.s.world)[i]));
  /* and goes on from there once the cause is gone */
  servo = (tabi_servo){0};
  tabi_world_set_servo(y.s.world, scene_joint(&y.s, y.arm), &servo);
  const double rest = 0;
  scene_set(&y.s, y.arm, &rest, &rest);
  scene_run(&y.s, 10);
  scene_close(&y.s);
}

/* forces from outside that are no numbers must not pass either */
static void bad_pushes(void **state) {
  (void)state;
  yard y = open_yard();
  scene_open(&y.s, NULL);
  uint64_t hash = tabi_world_hash(y.s.world);
  scene_push(&y.s, y.box, v3_make(NAN, 0, 0));
  assert_true(tabi_world_step(y.s.world, NULL) != TABI_OK);
  assert_true(tabi_world_error(y.s.world)->message[0] != '\0');
  assert_true(tabi_world_hash(y.s.world) == hash);
  scene_close(&y.s);
}

static void snapshots_of_others(void **state) {
  (void)state;
  yard y = open_yard();
  scene_open(&y.s, NULL);
  memory m = remember(y.s.world);
  assert_int_equal(tabi_world_restore(y.s.world, m.bytes, m.size - 8), TABI_ERR_ARGUMENT);
  assert_int_equal(tabi_world_restore(y.s.world, m.bytes, m.size), TABI_OK);
  assert_unchanged(y.s.world, &m);
  scene_close(&y.s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bad_defs),
      cmocka_unit_test(names),
      cmocka_unit_test(bad_forces),
      cmocka_unit_test(bad_controls),
      cmocka_unit_test(bad_states),
      cmocka_unit_test(capacity),
      cmocka_unit_test(divergence),
      cmocka_unit_test(bad_pushes),
      cmocka_unit_test(snapshots_of_others),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
