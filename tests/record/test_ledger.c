/* test_ledger.c - the ledger of slip: bodies that slide, stop and rest have the distance, the
 * dissipated energy and the times of the closed forms, under every method that holds bodies apart;
 * what lasts one sample only is no change; links of one tree have no ledger with each other. */
#include "support/load.h"
#include "support/near.h"
#include "tabi/tabi_record.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define G  9.81
#define DT 1e-3

typedef struct run {
  tabi_scene *scene;
  tabi_world *world;
  tabi_observer *observer;
  tabi_ledger *ledger;
} run;

static run begin(const char *text, const char *method) {
  tabi_error err = {0};
  char set[64];
  const char *sets[] = {set};
  tabi_scene_def def = tabi_scene_def_default();
  (void)snprintf(set, sizeof set, "contact.model=%s", method);
  def.set = sets;
  def.nset = 1;
  run r = {.scene = load_scene_text(text, "ledger.yaml", &def)};
  r.world = open_world(r.scene, NULL);
  r.observer = tabi_observer_create(r.scene, r.world, &err);
  assert_non_null(r.observer);
  r.ledger = tabi_ledger_create(tabi_scene_model(r.scene), &err);
  assert_non_null(r.ledger);
  return r;
}

static void end(run *r) {
  tabi_ledger_destroy(r->ledger);
  tabi_observer_destroy(r->observer);
  tabi_world_destroy(r->world);
  tabi_scene_destroy(r->scene);
}

static const tabi_ledger_entry *go(run *r, int steps, int32_t *count) {
  tabi_error err = {0};
  assert_int_equal(tabi_ledger_add(r->ledger, tabi_observer_look(r->observer), &err), TABI_OK);
  for (int i = 0; i < steps; ++i) {
    step_world(r->scene, r->world);
    assert_int_equal(tabi_ledger_add(r->ledger, tabi_observer_look(r->observer), &err), TABI_OK);
  }
  return tabi_ledger_entries(r->ledger, count);
}

/* How far the box, the last body, is from where it was put. */
static double moved(const run *r, const double from[3]) {
  const double *q = tabi_world_q(r->world);
  return sqrt((q[0] - from[0]) * (q[0] - from[0]) + (q[1] - from[1]) * (q[1] - from[1]) +
              (q[2] - from[2]) * (q[2] - from[2]));
}

static const char *const rigid[] = {"cone", "lcp", "exact", "impulse"};
enum { NRIGID = sizeof rigid / sizeof *rigid };

/* A box of 2 kg on a slope s with friction mu has the acceleration a = g (sin s - mu cos s).  After
 * n steps of h its distance is a h^2 n (n + 1) / 2, and mu m g cos s joules per metre are
 * dissipated. */
static void slides(void **state) {
  (void)state;
  static const char text[] =
      "timestep: 1e-3\n"
      "materials: {wood: {friction: 0.3}}\n"
      "bodies:\n"
      "  - {name: slope, fixed: true, shape: {plane: {}}, rpy: [0, 0.5, 0], material: wood}\n"
      "  - {name: box, mass: 2, shape: {box: [0.2, 0.2, 0.02]}, material: wood,\n"
      "     xyz: [0.00479425538604203, 0, 0.00877582561890373], rpy: [0, 0.5, 0]}\n";
  enum { N = 500 };
  for (int i = 0; i < NRIGID; ++i) {
    run r = begin(text, rigid[i]);
    int32_t count = 0;
    const tabi_ledger_entry *entry = go(&r, N, &count);
    double distance = G * (sin(0.5) - 0.3 * cos(0.5)) * DT * DT * N * (N + 1) / 2;
    double weight = 2 * G * cos(0.5);
    // one entry: what slides has no other, and the slope has none
    assert_int_equal(count, 1);
    assert_string_equal(tabi_model_link(tabi_scene_model(r.scene), entry->link).name, "box");
    assert_int_equal(entry->status, TABI_CONTACT_SLIP);
    assert_near(entry->start, 0, 1e-12);
    assert_near(entry->end, N * DT, 1e-12);
    const double start[3] = {0.01 * sin(0.5), 0, 0.01 * cos(0.5)};
    assert_near(entry->distance, moved(&r, start), 1e-6);
    assert_near(entry->energy / (0.3 * weight * entry->distance), 1, 1e-5);
    // lcp begins to slide a little late
    assert_near(entry->distance / distance, 1, strcmp(rigid[i], "lcp") == 0 ? 1e-3 : 1e-5);
    assert_near(entry->impulse / (weight * N * DT), 1, 1e-5);
    end(&r);
  }
}

/* A box that slides with 1 m/s stops after v / (mu g) = 0.2039 s and, taken at the ends of steps,
 * v^2 / (2 mu g) - v h / 2 of distance; it has then lost its energy but for what that distance is
 * short of.
 */
static void stops(void **state) {
  (void)state;
  static const char text[] =
      "timestep: 1e-3\n"
      "materials: {wood: {friction: 0.5}}\n"
      "bodies:\n"
      "  - {name: floor, fixed: true, shape: {plane: {}}, material: wood}\n"
      "  - {name: box, mass: 2, shape: {box: [0.2, 0.2, 0.02]}, material: wood,\n"
      "     xyz: [0, 0, 0.01], lin: [0.6, 0.8, 0]}\n";
  for (int i = 0; i < NRIGID; ++i) {
    run r = begin(text, rigid[i]);
    int32_t count = 0;
    const tabi_ledger_entry *entry = go(&r, 500, &count);
    double distance = 1 / (2 * 0.5 * G) - DT / 2;
    assert_int_equal(count, 2);
    assert_int_equal(entry[0].status, TABI_CONTACT_SLIP);
    assert_int_equal(entry[1].status, TABI_CONTACT_STICK);
    assert_near(entry[0].end, 1 / (0.5 * G), 2 * DT);
    assert_near(entry[1].start, entry[0].end, 0);
    assert_near(entry[1].end, 0.5, 1e-12);
    assert_near(entry[0].distance, moved(&r, (double[3]){0, 0, 0.01}), 1e-5);
    assert_near(entry[0].distance / distance, 1, 1e-4);
    assert_near(entry[0].energy / (0.5 * 2 * G * distance), 1, 1e-4);
    assert_near(entry[1].distance, 0, 1e-5);
    assert_near(entry[1].energy, 0, 1e-5);
    end(&r);
  }
}

/* A box at rest has one entry without distance or dissipated energy, and the impulse of its weight.
 */
static void rests(void **state) {
  (void)state;
  static const char text[] = "timestep: 1e-3\n"
                             "bodies:\n"
                             "  - {name: floor, fixed: true, shape: {plane: {}}}\n"
                             "  - {name: box, mass: 2, shape: {box: [0.2, 0.2, 0.2]},\n"
                             "     xyz: [0, 0, 0.1]}\n";
  static const char *const all[] = {"cone", "lcp", "exact", "impulse", "penalty"};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    run r = begin(text, all[i]);
    int32_t count = 0;
    const tabi_ledger_entry *entry = go(&r, 1000, &count);
    bool soft = strcmp(all[i], "penalty") == 0;
    assert_int_equal(count, 1);
    assert_int_equal(entry->status, TABI_CONTACT_STICK);
    assert_near(entry->end, 1, 1e-12);
    assert_near(entry->distance, 0, 1e-9);
    assert_near(entry->energy, 0, 1e-9);
    // springs have to be pressed first
    assert_near(entry->impulse / (2 * G), 1, soft ? 0.01 : 1e-5);
    end(&r);
  }
}

/* -- samples made by hand */

static const char bodies[] =
    "bodies:\n"
    "  - {name: floor, fixed: true, shape: {plane: {}}}\n"
    "  - {name: box, mass: 1, shape: {box: [1, 1, 1]}}\n"
    "  - {name: other, mass: 1, shape: {box: [1, 1, 1]}, xyz: [3, 0, 0]}\n";

/* One second of a box on the floor: k sticks, s slips at 2 m/s and 3 W under 5 N, - is away. */
static tabi_sample_contact contact_of(char what, int32_t link) {
  tabi_sample_contact c = {
      .link_a = 0, .link_b = link, .normal = {0, 0, 1}
  };
  if (what == '-') return c;
  c.status = what == 's' ? TABI_CONTACT_SLIP : TABI_CONTACT_STICK;
  c.force[2] = 5;
  c.velocity[0] = what == 's' ? 2 : 0;
  c.power = what == 's' ? 3 : 0;
  return c;
}

/* What the ledger makes of samples, as text: "k0-2 s2-5". */
static void tell(const char *samples, char *text, size_t size) {
  tabi_error err = {0};
  run r = begin(bodies, "cone");
  for (int i = 0; samples[i] != '\0'; ++i) {
    tabi_sample_contact c = contact_of(samples[i], 1);
    tabi_sample sample = {.step = i + 1, .time = i + 1, .contact = &c, .ncontact = 1};
    assert_int_equal(tabi_ledger_add(r.ledger, &sample, &err), TABI_OK);
  }
  int32_t count = 0;
  const tabi_ledger_entry *entry = tabi_ledger_entries(r.ledger, &count);
  text[0] = '\0';
  for (int32_t i = 0; i < count; ++i) {
    size_t used = strlen(text);
    (void)snprintf(text + used, size - used, "%s%c%g-%g", i > 0 ? " " : "",
                   entry[i].status == TABI_CONTACT_SLIP ? 's' : 'k', entry[i].start, entry[i].end);
  }
  end(&r);
}

static void one_sample_is_no_change(void **state) {
  (void)state;
  static const char *const cases[][2] = {
      {"kkkk",      "k0-4"          },
      {"--kk--",    "k2-4"          },
      {"kkskk",     "k0-5"          },
      {"kksskk",    "k0-2 s2-4 k4-6"},
      {"skk",       "k0-3"          },
      {"kss",       "s0-3"          },
      {"k",         "k0-1"          },
      {"-s--",      "s1-2"          },
      {"kk-kk",     "k0-5"          },
      {"kk--kk",    "k0-2 k4-6"     },
      {"kks-kk",    "k0-6"          },
      {"kk-sskk",   "k0-2 s3-5 k5-7"},
      {"kksksskkk", "k0-4 s4-6 k6-9"},
      {"kks",       "k0-3"          },
      {"kk-",       "k0-2"          },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    char text[200];
    tell(cases[i][0], text, sizeof text);
    if (strcmp(text, cases[i][1]) != 0) fail_msg("%s: %s", cases[i][0], text);
  }
}

/* Nothing is lost or counted twice, however entries are cut. */
static void sums_stay(void **state) {
  (void)state;
  tabi_error err = {0};
  static const char samples[] = "kss-kskksssk--sks-kks";
  run r = begin(bodies, "cone");
  double slips = 0;
  double touches = 0;
  for (int i = 0; samples[i] != '\0'; ++i) {
    tabi_sample_contact c = contact_of(samples[i], 1);
    tabi_sample sample = {.step = i + 1, .time = i + 1, .contact = &c, .ncontact = 1};
    assert_int_equal(tabi_ledger_add(r.ledger, &sample, &err), TABI_OK);
    slips += samples[i] == 's';
    touches += samples[i] != '-';
    tabi_ledger_entry sum = {0};
    int32_t count = 0;
    const tabi_ledger_entry *entry = tabi_ledger_entries(r.ledger, &count);
    for (int32_t k = 0; k < count; ++k) {
      sum.distance += entry[k].distance;
      sum.energy += entry[k].energy;
      sum.impulse += entry[k].impulse;
      if (k > 0) assert_true(entry[k].start >= entry[k - 1].end);
    }
    assert_near(sum.distance, 2 * slips, 1e-12);
    assert_near(sum.energy, 3 * slips, 1e-12);
    assert_near(sum.impulse, 5 * touches, 1e-12);
  }
  end(&r);
}

/* Points under more than half of the force decide; the distance is that of their weighted mean. */
static void force_decides(void **state) {
  (void)state;
  tabi_error err = {0};
  run r = begin(bodies, "cone");
  tabi_sample_contact c[2] = {contact_of('k', 1), contact_of('s', 1)};
  tabi_sample sample = {.contact = c, .ncontact = 2};
  for (int i = 1; i <= 4; ++i) {
    sample.step = i;
    sample.time = i;
    // 5 N stick and 4 N slip, then 6 N slip
    c[1].force[2] = i <= 2 ? 4 : 6;
    assert_int_equal(tabi_ledger_add(r.ledger, &sample, &err), TABI_OK);
  }
  int32_t count = 0;
  const tabi_ledger_entry *entry = tabi_ledger_entries(r.ledger, &count);
  assert_int_equal(count, 2);
  assert_int_equal(entry[0].status, TABI_CONTACT_STICK);
  assert_int_equal(entry[1].status, TABI_CONTACT_SLIP);
  assert_near(entry[0].distance, 2 * 2.0 * 4 / 9, 1e-6);
  assert_near(entry[1].distance, 2 * 2.0 * 6 / 11, 1e-6);
  end(&r);
}

/* Entries stand in the order of their starts, also those that waited for a second sample. */
static void starts_in_order(void **state) {
  (void)state;
  tabi_error err = {0};
  static const char *const samples[2] = {"kkkssskk", "--s-kkss"};
  run r = begin(bodies, "cone");
  for (int i = 0; samples[0][i] != '\0'; ++i) {
    const tabi_sample_contact c[2] = {contact_of(samples[0][i], 1), contact_of(samples[1][i], 2)};
    tabi_sample sample = {.step = i + 1, .time = i + 1, .contact = c, .ncontact = 2};
    assert_int_equal(tabi_ledger_add(r.ledger, &sample, &err), TABI_OK);
  }
  int32_t count = 0;
  const tabi_ledger_entry *entry = tabi_ledger_entries(r.ledger, &count);
  double ends[3] = {0};
  for (int32_t i = 0; i < count; ++i) {
    if (i > 0) assert_true(entry[i].start >= entry[i - 1].start);
    // of one body they do not overlap
    assert_true(entry[i].start >= ends[entry[i].link]);
    ends[entry[i].link] = entry[i].end;
  }
  assert_int_equal(count, 6);
  assert_near(ends[1], 8, 0);
  assert_near(ends[2], 8, 0);
  end(&r);
}

static void refuses_what_is_no_sample_of_it(void **state) {
  (void)state;
  tabi_error err = {0};
  run r = begin(bodies, "cone");
  tabi_sample_contact c = contact_of('k', 3);
  tabi_sample sample = {.step = 1, .time = 1, .contact = &c, .ncontact = 1};
  assert_int_equal(tabi_ledger_add(r.ledger, &sample, &err), TABI_ERR_ARGUMENT);
  assert_non_null(strstr(err.message, "another model"));
  c.link_b = -2;
  assert_int_equal(tabi_ledger_add(r.ledger, &sample, &err), TABI_ERR_ARGUMENT);
  c.link_b = 1;
  assert_int_equal(tabi_ledger_add(r.ledger, &sample, &err), TABI_OK);
  sample.time = 0.5;
  assert_int_equal(tabi_ledger_add(r.ledger, &sample, &err), TABI_ERR_ARGUMENT);
  assert_non_null(strstr(err.message, "order of time"));
  end(&r);
}

/* -- robots */

/* The feet of a robot that stands carry its weight; links that touch others of it have no entry. */
static void feet_of_a_robot(void **state) {
  (void)state;
  static const char text[] =
      "timestep: 1e-3\n"
      "bodies:\n"
      "  - {name: floor, fixed: true, shape: {plane: {}}}\n"
      "robots:\n"
      "  - {name: robot, model: " TABI_SOURCE_DIR "/models/humanoid20.urdf, base: free,\n"
      "     xyz: [0, 0, 0.219212198800577],\n"
      "     posture: {l_hip_pitch: -0.4, l_knee: 0.8, l_ankle_pitch: -0.4, r_hip_pitch: -0.4,\n"
      "               r_knee: 0.8, r_ankle_pitch: -0.4},\n"
      "     controller: {type: pd, kp: 60, kd: 1}}\n";
  run r = begin(text, "cone");
  int32_t count = 0;
  const tabi_ledger_entry *entry = go(&r, 200, &count);
  const tabi_model *model = tabi_scene_model(r.scene);
  double impulse = 0;
  double seconds[2] = {0};
  for (int32_t i = 0; i < count; ++i) {
    const char *name = tabi_model_link(model, entry[i].link).name;
    bool left = strcmp(name, "robot/l_foot") == 0;
    if (!left && strcmp(name, "robot/r_foot") != 0) fail_msg("%s", name);
    seconds[left] += entry[i].end - entry[i].start;
    impulse += entry[i].impulse;
  }
  assert_near(seconds[0], 0.2, 0.02);
  assert_near(seconds[1], 0.2, 0.02);
  assert_near(impulse / (tabi_model_mass(model) * G * 0.2), 1, 0.05);
  end(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(slides),          cmocka_unit_test(stops),
      cmocka_unit_test(rests),           cmocka_unit_test(one_sample_is_no_change),
      cmocka_unit_test(sums_stay),       cmocka_unit_test(force_decides),
      cmocka_unit_test(starts_in_order), cmocka_unit_test(refuses_what_is_no_sample_of_it),
      cmocka_unit_test(feet_of_a_robot),
  };
  return cmocka_run_group_tests_name("ledger", tests, NULL, NULL);
}
