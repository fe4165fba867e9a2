/* test_readings.c - what is done to what sensors measure: noise that has the wanted spread and
 * repeats, rounding, range, delay; and defs that are refused. */
#include "support/near.h"
#include "support/scene_build.h"

#include <stdlib.h>
#include <string.h>

/* a pendulum that swings through, 1 ms steps */
typedef struct swing {
  scene s;
  int32_t rod, joint;
} swing;

static swing begin_swing(void) {
  swing w = {.s = scene_begin()};
  tabi_joint_def hinge =
      scene_hinge(TABI_JOINT_CONTINUOUS, TABI_WORLD, v3_zero(), v3_make(0, 1, 0));
  hinge.initial_q[0] = 1;
  w.rod = scene_link(&w.s, 1, v3_make(0, 0, -0.5), v3_make(0.02, 0.02, 0), hinge);
  w.joint = tabi_builder_njoint(w.s.builder) - 1;
  return w;
}

static tabi_sensor_def sensor_on(const swing *w, tabi_sensor_type type) {
  tabi_sensor_def def = tabi_sensor_def_default();
  def.type = type;
  def.link = w->rod;
  def.joint = w->joint;
  return def;
}

static void open_seeded(swing *w, uint64_t seed) {
  tabi_world_def def = scene_def(&w->s);
  def.seed = seed;
  scene_open(&w->s, &def);
}

static double read_one(const scene *s, int32_t sensor) {
  double value[TABI_SENSOR_MAX];
  (void)tabi_world_sensor(s->world, sensor, value);
  return value[0];
}

/* what an array of samples tells of a distribution */
typedef struct moments {
  double mean, variance, fourth, neighbours;
} moments;

static moments moments_of(const double *x, int n) {
  moments m = {0};
  for (int i = 0; i < n; ++i)
    m.mean += x[i] / n;
  for (int i = 0; i < n; ++i) {
    double off = x[i] - m.mean;
    m.variance += off * off / n;
    m.fourth += off * off * off * off / n;
    if (i > 0) m.neighbours += off * (x[i - 1] - m.mean) / n;
  }
  return m;
}

/* Gyro of a link at rest, with another spread on every axis: mean, variance and kurtosis are those
 * of a normal distribution within five standard errors, and samples know nothing of each other. */
static void noise_is_normal(void **state) {
  (void)state;
  enum { COUNT = 20000 };
  const double spread[3] = {0.01, 0.2, 3};
  swing w = begin_swing();
  tabi_sensor_def def = sensor_on(&w, TABI_SENSOR_GYRO);
  memcpy(def.noise, spread, sizeof spread);
  int32_t gyro = tabi_builder_add_sensor(w.s.builder, &def);
  open_seeded(&w, 7);
  const double still[2] = {0, 0};
  scene_set(&w.s, w.rod, still, still + 1);
  double *sample = malloc(sizeof *sample * 3 * COUNT);
  assert_non_null(sample);
  double across = 0;
  for (int i = 0; i < COUNT; ++i) {
    double value[3];
    scene_run(&w.s, 1);
    (void)tabi_world_sensor(w.s.world, gyro, value);
    for (int k = 0; k < 3; ++k)
      sample[k * COUNT + i] = value[k] / spread[k];
    across += value[0] * value[1] / (spread[0] * spread[1] * COUNT);
  }
  for (int k = 0; k < 3; ++k) {
    moments m = moments_of(sample + (size_t)k * COUNT, COUNT);
    assert_near(m.mean, 0, 5 / sqrt(COUNT));
    assert_near(m.variance, 1, 5 * sqrt(2.0 / COUNT));
    assert_near(m.fourth, 3, 5 * sqrt(96.0 / COUNT));
    assert_near(m.neighbours, 0, 5 / sqrt(COUNT));
  }
  assert_near(across, 0, 5 / sqrt(COUNT));
  free(sample);
  scene_close(&w.s);
}

/* an encoder with noise and delay, and `more` sensors behind it */
static swing open_noisy(uint64_t seed, int more) {
  swing w = begin_swing();
  tabi_sensor_def def = sensor_on(&w, TABI_SENSOR_ENCODER);
  def.noise[0] = 0.01;
  def.delay = 5e-3;
  for (int i = 0; i <= more; ++i)
    (void)tabi_builder_add_sensor(w.s.builder, &def);
  open_seeded(&w, seed);
  return w;
}

/* The same seed gives the same readings, whatever sensors come after it; another seed others. */
static void seeds_repeat(void **state) {
  (void)state;
  swing first = open_noisy(3, 1);
  swing again = open_noisy(3, 0);
  swing other = open_noisy(4, 0);
  for (int k = 0; k < 50; ++k) {
    assert_true(read_one(&first.s, 0) == read_one(&again.s, 0));
    assert_true(read_one(&first.s, 0) != read_one(&other.s, 0));
    assert_true(read_one(&first.s, 0) != read_one(&first.s, 1));
    scene_run(&first.s, 1);
    scene_run(&again.s, 1);
    scene_run(&other.s, 1);
  }
  scene_close(&first.s);
  scene_close(&again.s);
  scene_close(&other.s);
}

/* After a snapshot is restored, also into a world with another seed, readings are what they were,
 * at once and from there on. */
static void snapshots_repeat(void **state) {
  (void)state;
  enum { COUNT = 30 };
  swing w = open_noisy(3, 0);
  swing other = open_noisy(4, 0);
  scene_run(&w.s, 17);
  size_t size = tabi_world_snapshot_size(w.s.world);
  void *snapshot = malloc(size);
  assert_non_null(snapshot);
  tabi_world_save(w.s.world, snapshot);
  double seen[COUNT];
  for (int k = 0; k < COUNT; ++k) {
    seen[k] = read_one(&w.s, 0);
    scene_run(&w.s, 1);
  }
  scene *worlds[2] = {&w.s, &other.s};
  for (int i = 0; i < 2; ++i) {
    assert_int_equal(tabi_world_restore(worlds[i]->world, snapshot, size), TABI_OK);
    for (int k = 0; k < COUNT; ++k) {
      assert_true(read_one(worlds[i], 0) == seen[k]);
      scene_run(worlds[i], 1);
    }
  }
  free(snapshot);
  scene_close(&w.s);
  scene_close(&other.s);
}

/* A step that fails leaves readings and generators alone. */
static void failed_steps_read_nothing(void **state) {
  (void)state;
  swing w = open_noisy(3, 0);
  swing calm = open_noisy(3, 0);
  const double bad = NAN;
  for (int k = 0; k < 20; ++k) {
    scene_run(&w.s, 1);
    scene_run(&calm.s, 1);
    assert_int_equal(tabi_world_step(w.s.world, &bad), TABI_ERR_ARGUMENT);
    assert_true(read_one(&w.s, 0) == read_one(&calm.s, 0));
  }
  scene_close(&w.s);
  scene_close(&calm.s);
}

/* Readings come out exactly k steps late, to the nearest step; until then it is the start's. */
static void delays_are_exact(void **state) {
  (void)state;
  enum { COUNT = 40, SENSORS = 5 };
  const double delay[SENSORS] = {0, 1e-3, 2.4e-3, 6.6e-3, 30e-3};
  const int steps[SENSORS] = {0, 1, 2, 7, 30};
  swing w = begin_swing();
  for (int i = 0; i < SENSORS; ++i) {
    tabi_sensor_def def = sensor_on(&w, i == 2 ? TABI_SENSOR_JOINT_TORQUE : TABI_SENSOR_ENCODER);
    def.delay = delay[i];
    assert_int_equal(tabi_builder_add_sensor(w.s.builder, &def), i);
  }
  scene_open(&w.s, NULL);
  double q[COUNT];
  for (int k = 0; k < COUNT; ++k) {
    q[k] = scene_q(&w.s, w.rod)[0];
    for (int i = 0; i < SENSORS; ++i) {
      int then = k > steps[i] ? k - steps[i] : 0;
      /* the torque of a step is the number of that step */
      assert_true(read_one(&w.s, i) == (i == 2 ? then : q[then]));
    }
    const double tau = k + 1;
    assert_int_equal(tabi_world_step(w.s.world, &tau), TABI_OK);
  }
  /* a state set from outside is known at once, and nothing of what was on its way */
  const double angle = 0.25;
  scene_set(&w.s, w.rod, &angle, NULL);
  for (int i = 0; i < SENSORS; ++i)
    assert_true(read_one(&w.s, i) == (i == 2 ? 0 : angle));
  scene_run(&w.s, 1);
  assert_true(read_one(&w.s, SENSORS - 1) == angle);
  scene_close(&w.s);
}

/* Multiples of the resolution, the nearest; within the range to both sides. */
static void readings_are_rounded_and_cut(void **state) {
  (void)state;
  swing w = begin_swing();
  tabi_sensor_def def = sensor_on(&w, TABI_SENSOR_ENCODER);
  def.resolution[0] = 0.125;
  int32_t coarse = tabi_builder_add_sensor(w.s.builder, &def);
  def.resolution[0] = 0;
  def.range[0] = 0.4;
  int32_t narrow = tabi_builder_add_sensor(w.s.builder, &def);
  def.resolution[0] = 0.25;
  def.noise[0] = 1;
  int32_t all = tabi_builder_add_sensor(w.s.builder, &def);
  scene_open(&w.s, NULL);
  bool cut[2] = {false, false};
  for (int k = 0; k < 1500; ++k) {
    double q = scene_q(&w.s, w.rod)[0];
    double steps = read_one(&w.s, coarse) / 0.125;
    assert_true(steps == round(steps) && fabs(0.125 * steps - q) <= 0.0625);
    double kept = read_one(&w.s, narrow);
    assert_true(kept == (q > 0.4 ? 0.4 : q < -0.4 ? -0.4 : q));
    cut[kept > 0] |= fabs(kept) == 0.4;
    double both = fabs(read_one(&w.s, all));
    assert_true(both == 0 || both == 0.25 || both == 0.4);
    scene_run(&w.s, 1);
  }
  assert_true(cut[0] && cut[1]);
  scene_close(&w.s);
}

/* A foot switch says 0 or 1, whatever is done to the force beside it. */
static void switches_are_on_or_off(void **state) {
  (void)state;
  scene s = scene_begin();
  int32_t stuff = scene_material(&s, 0.5, 0);
  scene_plane(&s, 0, stuff);
  tabi_sensor_def def = tabi_sensor_def_default();
  def.type = TABI_SENSOR_CONTACT;
  def.link = scene_ball(&s, 1, 0.1, v3_make(0, 0, 0.12), stuff);
  for (int k = 0; k < 2; ++k) {
    def.noise[k] = 0.3;
    def.resolution[k] = 5;
    def.range[k] = 0.5;
  }
  def.range[1] = 5;
  (void)tabi_builder_add_sensor(s.builder, &def);
  scene_open(&s, NULL);
  double value[TABI_SENSOR_MAX];
  assert_int_equal(tabi_world_sensor(s.world, 0, value), 2);
  assert_true(value[0] == 0);
  scene_run(&s, 200);
  (void)tabi_world_sensor(s.world, 0, value);
  assert_true(value[0] == 1 && value[1] == 5);
  scene_close(&s);
}

typedef void change_def(tabi_sensor_def *def);
static void raw(tabi_sensor_def *def) { def->def_size = 0; }
static void strange(tabi_sensor_def *def) { def->type = TABI_SENSOR_COUNT; }
static void nowhere(tabi_sensor_def *def) { def->joint = 7; }
static void off_link(tabi_sensor_def *def) {
  def->type = TABI_SENSOR_GYRO;
  def->link = TABI_WORLD;
}
static void at_free_joint(tabi_sensor_def *def) {
  def->type = TABI_SENSOR_ENCODER;
  def->joint = 1;
}
static void twice(tabi_sensor_def *def) { def->name = "first"; }
static void unturned(tabi_sensor_def *def) { def->quat[0] = 0; }
static void negative(tabi_sensor_def *def) { def->noise[5] = -1; }
static void endless(tabi_sensor_def *def) { def->resolution[0] = INFINITY; }
static void narrow(tabi_sensor_def *def) { def->range[1] = 0; }
static void early(tabi_sensor_def *def) { def->delay = -1e-3; }

/* Each mistake is refused by name; what is fine is in the model as it was given. */
static void defs_are_checked(void **state) {
  (void)state;
  const struct {
    change_def *change;
    const char *says;
  } cases[] = {
      {raw,           "tabi_sensor_def was not made by tabi_sensor_def_default()"  },
      {strange,       "sensor 'ft': unknown type 8"                                },
      {nowhere,       "sensor 'ft': type force_torque needs a joint"               },
      {off_link,      "sensor 'ft': type gyro needs a link"                        },
      {at_free_joint, "sensor 'ft': type encoder needs a joint with one coordinate"},
      {twice,         "sensor 'first' defined twice; give each sensor its own name"},
      {unturned,      "sensor 'ft': its frame is not finite or no rotation"        },
      {negative,      "sensor 'ft': noise must be >= 0"                            },
      {endless,       "sensor 'ft': resolution must be >= 0"                       },
      {narrow,        "sensor 'ft': range must be > 0"                             },
      {early,         "sensor 'ft': delay must be >= 0"                            },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    swing w = begin_swing();
    (void)scene_free(&w.s, 1, v3_make(1, 1, 1), v3_zero());
    tabi_sensor_def def = sensor_on(&w, TABI_SENSOR_FORCE_TORQUE);
    def.name = "first";
    assert_int_equal(tabi_builder_add_sensor(w.s.builder, &def), 0);
    def.name = "ft";
    cases[i].change(&def);
    assert_int_equal(tabi_builder_add_sensor(w.s.builder, &def), TABI_NONE);
    assert_string_equal(tabi_builder_error(w.s.builder)->message, cases[i].says);
    tabi_builder_destroy(w.s.builder);
  }
}

static void models_keep_sensors(void **state) {
  (void)state;
  swing w = begin_swing();
  tabi_sensor_def def = sensor_on(&w, TABI_SENSOR_FORCE_TORQUE);
  char name[] = "ankle";
  def.name = name;
  def.pos[1] = 0.5;
  def.place = (tabi_place){"robot.yaml", 12};
  (void)tabi_builder_add_sensor(w.s.builder, &def);
  name[0] = 'x';
  scene_open(&w.s, NULL);
  assert_int_equal(tabi_model_nsensor(w.s.model), 1);
  assert_int_equal(tabi_model_find_sensor(w.s.model, "ankle"), 0);
  assert_int_equal(tabi_model_find_sensor(w.s.model, "xnkle"), TABI_NONE);
  tabi_sensor_def kept = tabi_model_sensor(w.s.model, 0);
  assert_string_equal(kept.name, "ankle");
  assert_string_equal(kept.place.file, "robot.yaml");
  assert_near(kept.pos[1], 0.5, 0);
  for (int type = 0; type < TABI_SENSOR_COUNT; ++type) {
    const char *word = tabi_sensor_type_name((tabi_sensor_type)type);
    assert_int_equal(tabi_sensor_type_find(word), type);
    assert_in_range(tabi_sensor_type_size((tabi_sensor_type)type), 1, TABI_SENSOR_MAX);
  }
  assert_int_equal(tabi_sensor_type_find("nose"), TABI_NONE);
  scene_close(&w.s);
}

static void long_delays_are_refused(void **state) {
  (void)state;
  swing w = begin_swing();
  tabi_sensor_def def = sensor_on(&w, TABI_SENSOR_ENCODER);
  def.name = "late";
  def.delay = 1;
  (void)tabi_builder_add_sensor(w.s.builder, &def);
  tabi_world_def world = scene_def(&w.s);
  world.timestep = 5e-7;
  tabi_error err;
  assert_null(tabi_world_create(w.s.model, &world, &err));
  assert_int_equal(err.status, TABI_ERR_ARGUMENT);
  assert_string_equal(err.message, "sensor 'late': a delay of 1 s is 2e+06 time steps; at most "
                                   "1000000 are kept");
  scene_close(&w.s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(noise_is_normal),        cmocka_unit_test(seeds_repeat),
      cmocka_unit_test(snapshots_repeat),       cmocka_unit_test(failed_steps_read_nothing),
      cmocka_unit_test(delays_are_exact),       cmocka_unit_test(readings_are_rounded_and_cut),
      cmocka_unit_test(switches_are_on_or_off), cmocka_unit_test(defs_are_checked),
      cmocka_unit_test(models_keep_sensors),    cmocka_unit_test(long_delays_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
