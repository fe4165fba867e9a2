/* test_golden.c - short trajectories whose bits are kept in scenes.txt: the same for every compiler
 * and every level of optimisation.
 *
 *   TABI_REGOLD=1 test_golden_scenes     writes the file anew; look at the difference before a
 * commit
 *
 * A line of the file is: name, steps, hash, then the height of the scene's last body, by which one
 * sees whether a new hash means another motion or only other bits. */
#include "support/near.h"
#include "support/rng.h"
#include "support/scene_build.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_NAME TABI_SOURCE_DIR "/tests/golden/scenes.txt"
#define MAX_LINES 32

static scene box_on_slope(tabi_world_def *def) {
  scene s = scene_begin();
  int32_t stuff = scene_material(&s, 0.3, 0);
  scene_plane(&s, 0.5, stuff);
  (void)scene_box(&s, 2, v3_make(0.3, 0.2, 0.1), v3_make(0.1, 0, 0.4), stuff);
  *def = scene_def(&s);
  return s;
}

static scene stack(tabi_world_def *def) {
  scene s = scene_begin();
  int32_t stuff = scene_material(&s, 0.5, 0);
  scene_plane(&s, 0, stuff);
  for (int k = 0; k < 5; ++k)
    scene_box(&s, 5 - k, v3_make(0.2, 0.2, 0.1), v3_make(0.01 * k, 0, 0.06 + 0.11 * k), stuff);
  *def = scene_def(&s);
  return s;
}

static scene pile(tabi_world_def *def) {
  scene s = scene_begin();
  rng r = rng_make(1234);
  int32_t stuff = scene_material(&s, 0.5, 0.1);
  scene_plane(&s, 0, stuff);
  const tabi_shape_type type[4] = {TABI_SHAPE_BOX, TABI_SHAPE_SPHERE, TABI_SHAPE_CAPSULE,
                                   TABI_SHAPE_CYLINDER};
  for (int i = 0; i < 10; ++i) {
    double x = rng_between(&r, -0.1, 0.1);
    double y = rng_between(&r, -0.1, 0.1);
    v3 at = v3_make(x, y, 0.12 + 0.16 * i);
    int32_t link = scene_free(&s, 1, v3_make(0.004, 0.005, 0.006), at);
    v3 size = i % 4 == 0 ? v3_make(0.2, 0.15, 0.1) : v3_make(0.06, 0.12, 0);
    scene_shape(&s, type[i % 4], link, size, stuff);
  }
  *def = scene_def(&s);
  return s;
}

static scene humanoid(tabi_world_def *def) {
  scene s = scene_begin();
  int32_t stuff = scene_material(&s, 0.7, 0);
  scene_plane(&s, 0, stuff);
  (void)scene_humanoid(&s, 0.66);
  *def = scene_def(&s);
  return s;
}

static scene balls(tabi_world_def *def) {
  scene s = scene_begin();
  int32_t stuff = scene_material(&s, 0.2, 0.8);
  scene_plane(&s, 0, stuff);
  for (int i = 0; i < 9; ++i) {
    const int at[2] = {i % 3, i / 3};
    scene_ball(&s, 1, 0.1, v3_make(0.15 * at[0], 0.16 * at[1], 0.5 + 0.07 * i), stuff);
  }
  *def = scene_def(&s);
  def->integrator = TABI_MIDPOINT;
  return s;
}

/* a start that is not symmetric */
static void tumble(scene *s) {
  int32_t nv = tabi_model_nv(s->model);
  double v[256] = {0};
  assert_true(nv <= 256);
  rng r = rng_make(99);
  rng_fill(&r, 0.5, v, nv);
  assert_int_equal(tabi_world_set_state(s->world, tabi_world_q(s->world), v, NULL), TABI_OK);
}

static void crouch(scene *s) { scene_crouch(s, 2000, 50, true); }

static const struct {
  const char *name;
  scene (*make)(tabi_world_def *def);
  void (*begin)(scene *s); /* NULL: as built */
  int64_t steps;
} scenes[] = {
    {"slope",    box_on_slope, tumble, 1000},
    {"stack",    stack,        NULL,   1000},
    {"pile",     pile,         tumble, 600 },
    {"humanoid", humanoid,     crouch, 400 },
    {"balls",    balls,        tumble, 1000},
};

typedef struct line {
  char name[48];
  int64_t steps;
  uint64_t hash;
  double height;
} line;

/* runs a scene under a contact method */
static line play(size_t index, tabi_contact_kind contact) {
  tabi_world_def def;
  scene s = scenes[index].make(&def);
  def.contact = contact;
  scene_open(&s, &def);
  if (scenes[index].begin) scenes[index].begin(&s);
  int64_t steps = scenes[index].steps;
  scene_run(&s, steps);
  line l = {.steps = steps, .hash = tabi_world_hash(s.world)};
  (void)snprintf(l.name, sizeof l.name, "%s.%s", scenes[index].name, tabi_contact_name(contact));
  double pos[3];
  double quat[4];
  tabi_dynamics_link_pose(tabi_world_dynamics(s.world), tabi_model_nlink(s.model) - 1, pos, quat);
  l.height = pos[2];
  scene_close(&s);
  return l;
}

static int read_lines(line *lines) {
  FILE *file = fopen(FILE_NAME, "r");
  if (!file) fail_msg("cannot read %s", FILE_NAME);
  char text[256];
  int count = 0;
  while (fgets(text, sizeof text, file)) {
    line *l = &lines[count];
    if (text[0] == '#') continue;
    assert_true(count < MAX_LINES);
    /* a file of our own, and the count is looked at: NOLINTBEGIN(cert-err34-c) */
    int got =
        sscanf(text, "%47s %" SCNd64 " %" SCNx64 " %lf", l->name, &l->steps, &l->hash, &l->height);
    /* NOLINTEND(cert-err34-c) */
    assert_int_equal(got, 4);
    ++count;
  }
  (void)fclose(file);
  return count;
}

static void write_lines(const line *lines, int count) {
  FILE *file = fopen(FILE_NAME, "w");
  if (!file) fail_msg("cannot write %s", FILE_NAME);
  (void)fprintf(file, "# scene.method, steps, hash of the final state, height of the last body [m];"
                      " written by test_golden.c\n");
  for (int i = 0; i < count; ++i) {
    (void)fprintf(file, "%s %" PRId64 " %016" PRIx64 " %.9f\n", lines[i].name, lines[i].steps,
                  lines[i].hash, lines[i].height);
  }
  assert_int_equal(fclose(file), 0);
}

static void golden(void **state) {
  (void)state;
  line now[MAX_LINES];
  int count = 0;
  for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; ++i) {
    for (int contact = 0; contact < TABI_CONTACT_GAIT; ++contact)
      now[count++] = play(i, (tabi_contact_kind)contact);
  }
  /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread */
  if (getenv("TABI_REGOLD")) {
    write_lines(now, count);
    print_message("written: %s\n", FILE_NAME);
    return;
  }
  line kept[MAX_LINES];
  assert_int_equal(read_lines(kept), count);
  int wrong = 0;
  for (int i = 0; i < count; ++i) {
    assert_string_equal(now[i].name, kept[i].name);
    assert_int_equal(now[i].steps, kept[i].steps);
    if (now[i].hash == kept[i].hash) continue;
    ++wrong;
    print_error("%s: hash %016" PRIx64 ", kept %016" PRIx64 "; last body at %.9f m, kept %.9f\n",
                now[i].name, now[i].hash, kept[i].hash, now[i].height, kept[i].height);
  }
  if (wrong > 0)
    fail_msg("%d of %d trajectories differ; TABI_REGOLD=1 keeps the new ones", wrong, count);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(golden)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
