/* test_order.c - motion does not depend on the order in which a file lists bodies, links, joints,
 * shapes and connections.
 *
 * Every shipped scene is loaded twice: as it is, and with those lists shuffled.  Joints are matched
 * by name.  From each of 50 states both make one step from the same positions, velocities and
 * impulses.  The velocities after it may differ by no more than 1e-9 (1e-6 under lcp, in m/s or
 * rad/s), or by the residual that the certificate reports.  Scenes that stand, walk or slide must
 * also agree after 2 s in which nothing is exchanged.
 *
 *   test_scene_order                 shipped scenes, some under every method that solves for
 * impulses test_scene_order all             every shipped scene, as a table test_scene_order all 2
 * pile      states of the first 2 s of one of them */
#include "support/load.h"
#include "support/near.h"
#include "support/rng.h"
#include "support/scratch.h"
#include "world/world.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_ITEMS = 1024, METHODS = 5, STATES = 50, SEED = 7 };

static const tabi_contact_kind methods[METHODS] = {TABI_CONTACT_CONE, TABI_CONTACT_EXACT,
                                                   TABI_CONTACT_IMPULSE, TABI_CONTACT_LCP,
                                                   TABI_CONTACT_PENALTY};

static const char *const all_scenes[] = {
    "andrews",     "balls666",       "bouncing",        "bowl",   "box_drop",         "bricard",
    "boxes_slope", "chain",          "closed_link",     "drop",   "four_bar",         "governor",
    "incline",     "p5_fall",        "parallel_ankles", "pile",   "rolling",          "stack",
    "stand",       "stand_figure40", "terrain",         "topple", "stand_humanoid20", "walk",
    "walk19",      "walk_bush"};

/* -- shuffled files */

static char *read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) fail_msg("cannot read %s", path);
  assert_int_equal(fseek(file, 0, SEEK_END), 0);
  size_t size = (size_t)ftell(file);
  rewind(file);
  char *text = malloc(size + 1);
  assert_non_null(text);
  assert_int_equal(fread(text, 1, size, file), size);
  text[size] = '\0';
  (void)fclose(file);
  return text;
}

static bool starts(const char *text, const char *with) {
  return strncmp(text, with, strlen(with)) == 0;
}

static const char *next_line(const char *line) {
  const char *end = strchr(line, '\n');
  return end ? end + 1 : line + strlen(line);
}

typedef struct item {
  const char *begin;
  size_t size;
} item;

/* items in random order, from `first` to `end` of a text; what is between them stays in place */
static void shuffle(item *items, int count, char *first, const char *end, uint64_t seed) {
  rng r = rng_make(seed);
  item moved[MAX_ITEMS];
  memcpy(moved, items, sizeof *items * (size_t)count);
  for (int i = count - 1; i > 0; --i) {
    int j = (int)(rng_next(&r) % (uint64_t)(i + 1));
    item other = moved[i];
    moved[i] = moved[j];
    moved[j] = other;
  }
  size_t size = (size_t)(end - first);
  char *text = malloc(size + 1);
  assert_non_null(text);
  char *to = text;
  const char *from = first;
  for (int i = 0; i < count; ++i) {
    memcpy(to, from, (size_t)(items[i].begin - from));
    to += items[i].begin - from;
    memcpy(to, moved[i].begin, moved[i].size);
    to += moved[i].size;
    from = items[i].begin + items[i].size;
  }
  memcpy(to, from, (size_t)(end - from));
  memcpy(first, text, size);
  free(text);
}

/* the entries "  - ..." of a list in a scene, up to the next key */
static void shuffle_list(char *text, const char *key, uint64_t seed) {
  item items[MAX_ITEMS];
  int count = 0;
  char *line = text;
  while (*line && !starts(line, key))
    line = (char *)next_line(line);
  if (!*line) return;
  line = (char *)next_line(line);
  char *first = line;
  for (; *line == ' ' || *line == '#' || *line == '\n'; line = (char *)next_line(line)) {
    if (starts(line, "  - ")) {
      assert_true(count < MAX_ITEMS);
      items[count++].begin = line;
    }
    if (count > 0) items[count - 1].size = (size_t)(next_line(line) - items[count - 1].begin);
  }
  shuffle(items, count, first, line, seed);
}

/* whether an element that begins on one line ends on another, or the same */
static bool closes(const char *begin, const char *line, const char *tag, size_t length) {
  char close[32];
  (void)snprintf(close, sizeof close, "</%.*s>", (int)length, tag);
  const char *end = next_line(line);
  const char *found = strstr(line, close);
  if (found && found < end) return true;
  found = strstr(line, "/>");
  return line == begin && found && found == end - 3;
}

/* the elements of two names at one depth of a URDF, between two places of its text */
static void shuffle_elements(char *first, char *end, const char *indent, const char *const name[2],
                             uint64_t seed) {
  item items[MAX_ITEMS];
  int count = 0;
  for (char *line = first; line < end;) {
    const char *tag = line + strlen(indent) + 1;
    size_t length = 0;
    for (int k = 0; k < 2 && length == 0; ++k) {
      bool opens = starts(line, indent) && line[strlen(indent)] == '<' && starts(tag, name[k]);
      if (opens && strchr(" >", tag[strlen(name[k])])) length = strlen(name[k]);
    }
    char *begin = line;
    if (length > 0) {
      while (!closes(begin, line, tag, length))
        line = (char *)next_line(line);
      assert_true(count < MAX_ITEMS);
      items[count++] = (item){begin, (size_t)(next_line(line) - begin)};
    }
    line = (char *)next_line(line);
  }
  shuffle(items, count, first, end, seed);
}

static void shuffle_urdf(char *text, uint64_t seed) {
  static const char *const parts[2] = {"link", "joint"};
  static const char *const shapes[2] = {"collision", "collision"};
  for (char *link = text; (link = strstr(link, "\n  <link ")); ++link) {
    char *end = strstr(link, "\n  </link>");
    char *next = strstr(link + 1, "\n  <");
    if (end && next >= end) shuffle_elements(link + 1, end + 1, "    ", shapes, seed);
  }
  shuffle_elements(text, text + strlen(text), "  ", parts, seed);
}

static void copy_file(const char *folder, const char *name, uint64_t seed) {
  char from[512];
  char to[512];
  (void)snprintf(from, sizeof from, "%s/%s/%s", TABI_SOURCE_DIR, folder, name);
  (void)snprintf(to, sizeof to, "%s/%s", folder, name);
  char *text = read_file(from);
  if (strstr(name, ".urdf")) shuffle_urdf(text, seed);
  (void)scratch_text(to, text);
  free(text);
}

static bool is_file(const char *folder, const char *name) {
  char path[512];
  struct stat found;
  (void)snprintf(path, sizeof path, "%s/%s/%s", TABI_SOURCE_DIR, folder, name);
  return stat(path, &found) == 0 && S_ISREG(found.st_mode);
}

/* all files of a folder, so that none that belongs to a robot is forgotten */
static void copy_folder(const char *folder, uint64_t seed) {
  char path[512];
  (void)snprintf(path, sizeof path, "%s/%s", TABI_SOURCE_DIR, folder);
  DIR *dir = opendir(path);
  assert_non_null(dir);
  for (const struct dirent *file = readdir(dir); file; file = readdir(dir))
    if (is_file(folder, file->d_name)) copy_file(folder, file->d_name, seed);
  (void)closedir(dir);
}

static void write_files(uint64_t seed) {
  copy_folder("models", seed);
  copy_folder("scenes", seed);
}

static tabi_scene *load_shuffled_text(const char *text, const char *path, uint64_t seed) {
  char *copy = strdup(text);
  assert_non_null(copy);
  shuffle_list(copy, "bodies:", seed);
  shuffle_list(copy, "connections:", seed + 1);
  tabi_scene *scene = load_scene_text(copy, path, NULL);
  free(copy);
  return scene;
}

static tabi_scene *load_shuffled(const char *name, uint64_t seed) {
  char path[512];
  (void)snprintf(path, sizeof path, "%s/scenes/%s.yaml", TABI_SOURCE_DIR, name);
  char *text = read_file(path);
  (void)snprintf(path, sizeof path, "scenes/%s.yaml", name);
  tabi_scene *scene = load_shuffled_text(text, scratch_path(path), seed);
  free(text);
  return scene;
}

/* -- two worlds side by side */

typedef struct pair {
  tabi_scene *scene, *other_scene;
  tabi_world *world, *other;
} pair;

static pair open_pair(tabi_scene *scene, tabi_scene *other, tabi_contact_kind method) {
  return (pair){scene, other, open_world_with(scene, method), open_world_with(other, method)};
}

static void close_pair(pair *p) {
  tabi_world_destroy(p->world);
  tabi_world_destroy(p->other);
}

static int32_t find_same(const pair *p, int32_t joint) {
  const char *name = tabi_model_joint(tabi_world_model(p->world), joint).name;
  int32_t same = tabi_model_find_joint(tabi_world_model(p->other), name);
  assert_true(same >= 0);
  return same;
}

/* Where the numbers of one joint stand in both worlds; false: it has none. */
static bool find_joint(const pair *p, int32_t joint, tabi_range q[2], tabi_range v[2]) {
  const tabi_model *model = tabi_world_model(p->world);
  const tabi_model *other = tabi_world_model(p->other);
  v[0] = tabi_model_joint_v(model, joint);
  if (v[0].count == 0) return false;
  int32_t same = find_same(p, joint);
  q[0] = tabi_model_joint_q(model, joint);
  q[1] = tabi_model_joint_q(other, same);
  v[1] = tabi_model_joint_v(other, same);
  assert_int_equal(v[0].count, v[1].count);
  return true;
}

/* the momentum that floating islands keep from step to step belongs to another motion */
static void forget_momentum(tabi_world *world) {
  for (int32_t t = 0; t < world->model->ntree; ++t)
    world->state.momentum[t].known = 0;
}

/* The shuffled world gets all that decides the next step.  Contacts have the same numbers in both,
 * joint rows do not. */
static void exchange(const pair *p) {
  tabi_range q[2];
  tabi_range v[2];
  const tabi_world *from = p->world;
  tabi_world *to = p->other;
  forget_momentum(p->world);
  forget_momentum(p->other);
  for (int32_t j = 0; j < tabi_model_njoint(tabi_world_model(from)); ++j) {
    if (!find_joint(p, j, q, v)) continue;
    size_t count = (size_t)v[0].count;
    memcpy(to->state.q + q[1].first, from->state.q + q[0].first,
           sizeof(double) * (size_t)q[0].count);
    memcpy(to->state.v + v[1].first, from->state.v + v[0].first, sizeof(double) * count);
    memcpy(to->state.row_impulse + tbi_row_id(v[1].first, 0),
           from->state.row_impulse + tbi_row_id(v[0].first, 0),
           sizeof(double) * count * TBI_ROW_KINDS);
    memcpy(to->state.row_steps + v[1].first, from->state.row_steps + v[0].first, count);
    if (tbi_world_nchange(from) > 0)
      memcpy(to->state.v_change + v[1].first, from->state.v_change + v[0].first,
             sizeof(double) * count);
    to->state.servo[find_same(p, j)] = from->state.servo[j];
  }
  to->state.head->nwarm = from->state.head->nwarm;
  memcpy(to->state.warm, from->state.warm, sizeof(tbi_warm) * (size_t)from->state.head->nwarm);
  memcpy(to->state.slipping, from->state.slipping, (size_t)from->state.head->nwarm);
  to->current = false;
}

/* the largest difference of velocities (by_q: of positions) */
static double difference(const pair *p, bool by_q) {
  double max = 0;
  tabi_range q[2];
  tabi_range v[2];
  for (int32_t j = 0; j < tabi_model_njoint(tabi_world_model(p->world)); ++j) {
    if (!find_joint(p, j, q, v)) continue;
    const tabi_range *at = by_q ? q : v;
    const double *x = (by_q ? tabi_world_q(p->world) : tabi_world_v(p->world)) + at[0].first;
    const double *y = (by_q ? tabi_world_q(p->other) : tabi_world_v(p->other)) + at[1].first;
    for (int32_t k = 0; k < at[0].count; ++k)
      max = fmax(max, fabs(x[k] - y[k]));
  }
  return max;
}

static double residual_of(const tabi_world *world) {
  tabi_certificate c = tabi_world_certificate(world);
  double deep = c.gap / tabi_world_get_def(world).timestep;
  return fmax(fmax(c.complementarity, c.dissipation), fmax(deep, c.connection));
}

/* the controllers of both, which feel their own worlds, then the step */
static void control_both(const pair *p) {
  tabi_scene_control(p->scene, p->world);
  tabi_scene_control(p->other_scene, p->other);
}

static void advance_both(const pair *p) {
  assert_int_equal(tabi_world_step(p->world, NULL), TABI_OK);
  assert_int_equal(tabi_world_step(p->other, NULL), TABI_OK);
}

typedef struct finding {
  double worst;  /* difference of velocities after one step */
  double excess; /* largest difference over what is allowed; up to 1 is right */
  int beyond;    /* steps that differ by more than is allowed */
} finding;

static void compare_step(const pair *p, double allowed, finding *f) {
  control_both(p);
  exchange(p);
  advance_both(p);
  double found = difference(p, false);
  double limit = fmax(allowed, fmax(residual_of(p->world), residual_of(p->other)));
  f->worst = fmax(f->worst, found);
  f->excess = fmax(f->excess, found / limit);
  f->beyond += found > limit ? 1 : 0;
}

/* one step from each of STATES states, between which both worlds run by themselves: robots with a
 * stabiliser would feel it if they were moved in every step */
static finding compare_steps(const pair *p, int64_t steps, double allowed) {
  finding f = {0};
  for (int64_t i = 0, next = 0; i < steps; ++i) {
    if (i < next * steps / STATES) {
      control_both(p);
      advance_both(p);
      continue;
    }
    compare_step(p, allowed, &f);
    ++next;
  }
  return f;
}

static double allowed_under(tabi_contact_kind method) {
  return method == TABI_CONTACT_LCP ? 1e-6 : 1e-9;
}

static int64_t steps_of(const tabi_scene *scene, double seconds) {
  double time = fmin(tabi_scene_duration(scene), seconds);
  return (int64_t)llround(time / tabi_scene_world_def(scene).timestep);
}

/* velocities after single steps of the first seconds */
static finding check_steps(const char *name, tabi_contact_kind method, double seconds) {
  tabi_scene *scene = load_shipped_scene(name, NULL);
  tabi_scene *other = load_shuffled(name, SEED);
  pair p = open_pair(scene, other, method);
  finding f = compare_steps(&p, steps_of(scene, seconds), allowed_under(method));
  close_pair(&p);
  tabi_scene_destroy(scene);
  tabi_scene_destroy(other);
  return f;
}

typedef struct run_finding {
  double apart;    /* m or rad, of positions at the end */
  double residual; /* m/s, the largest that either world has reported */
} run_finding;

/* positions after the first seconds, in which nothing is exchanged */
static run_finding check_run(const char *name, tabi_contact_kind method, double seconds) {
  tabi_scene *scene = load_shipped_scene(name, NULL);
  tabi_scene *other = load_shuffled(name, SEED);
  pair p = open_pair(scene, other, method);
  int64_t steps = steps_of(scene, seconds);
  run_finding f = {0};
  for (int64_t i = 0; i < steps; ++i) {
    control_both(&p);
    advance_both(&p);
    f.residual = fmax(f.residual, fmax(residual_of(p.world), residual_of(p.other)));
  }
  f.apart = difference(&p, true);
  close_pair(&p);
  tabi_scene_destroy(scene);
  tabi_scene_destroy(other);
  return f;
}

/* -- shipped scenes */

/* Seconds of which single steps are compared: under every method, and under impulse alone, whose
 * active set might be decided by ties. */
static const struct {
  const char *name;
  double all, impulse;
} shipped[] = {
    {"andrews",          0,   0.02},
    {"balls666",         0,   0.1 },
    {"bouncing",         0,   0.5 },
    {"bowl",             0,   0.06},
    {"box_drop",         0,   0.5 },
    {"boxes_slope",      0.5, 1   },
    {"bricard",          0,   0.1 },
    {"chain",            0,   0.8 },
    {"closed_link",      0,   0.1 },
    {"drop",             0.6, 0.6 },
    {"four_bar",         0,   0.1 },
    {"governor",         0,   0.1 },
    {"incline",          0,   0.5 },
    {"p5_fall",          1,   1   },
    {"parallel_ankles",  0,   0.1 },
    {"pile",             0.6, 1   },
    {"rolling",          0,   0.5 },
    {"stack",            0.2, 0.2 },
    {"stand",            0.3, 0.3 },
    {"stand_figure40",   0.5, 0.5 },
    {"stand_humanoid20", 0,   0.5 },
    {"terrain",          0.3, 0.3 },
    {"topple",           0,   0.5 },
    {"walk",             0.5, 0.5 },
    {"walk19",           0,   0.5 },
    {"walk_bush",        0,   0.5 },
};

static void check_shipped(size_t i, tabi_contact_kind method, double seconds) {
  if (seconds == 0) return;
  finding f = check_steps(shipped[i].name, method, TEST_SHORT ? 0.5 * seconds : seconds);
  if (f.beyond > 0) {
    fail_msg("%s, %s: %d steps differ by up to %g, %g times what is allowed", shipped[i].name,
             tabi_contact_describe(method)->name, f.beyond, f.worst, f.excess);
  }
}

static void test_steps(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof shipped / sizeof *shipped; ++i) {
    for (int k = 0; k < METHODS; ++k) {
      bool impulse = methods[k] == TABI_CONTACT_IMPULSE;
      check_shipped(i, methods[k], impulse ? shipped[i].impulse : shipped[i].all);
    }
  }
}

static void test_two_seconds(void **state) {
  (void)state;
  static const char *const standing[] = {"stand", "walk", "incline", "stack"};
  for (size_t i = 0; i < sizeof standing / sizeof *standing; ++i)
    for (int k = 0; k < METHODS; ++k)
      assert_true(check_run(standing[i], methods[k], 2).apart <= allowed_under(methods[k]));
  /* contacts that come and go, where small differences grow: up to what the certificate reports */
  static const char *const rough[] = {"terrain", "parallel_ankles"};
  for (size_t i = 0; i < sizeof rough / sizeof *rough && !TEST_SHORT; ++i) {
    run_finding f = check_run(rough[i], TABI_CONTACT_IMPULSE, 2);
    print_message("%s under impulse: %g apart, residual %g m/s\n", rough[i], f.apart, f.residual);
    assert_true(f.apart <= fmax(1e-9, f.residual));
  }
}

/* Sums are in an order by name, so free bodies have the same bits, even in heaps, where a start
 * moved by 1e-15 m ends elsewhere. */
static void test_same_bits(void **state) {
  (void)state;
  static const char *const heaps[] = {"boxes_slope", "pile"};
  for (size_t i = 0; i < sizeof heaps / sizeof *heaps; ++i)
    for (int k = 0; k < METHODS; ++k)
      assert_true(check_run(heaps[i], methods[k], TEST_SHORT ? 0.5 : 2).apart == 0);
}

/* Four boxes in a row on ball connections slide on floors of different friction until they stick,
 * one after another.  Where points change between sticking and sliding, rounding decides among
 * impulses that all obey the law, so connections must be solved in an order by name, too. */
static void test_joined_boxes(void **state) {
  (void)state;
  static const char *const names[4] = {"d", "a", "c", "b"};
  static const double mass[4] = {3.82, 1.44, 1.77, 1.98};
  static const double friction[4] = {0.76, 0.96, 0.53, 0.35};
  char text[2048] = "timestep: 1e-3\nduration: 0.5\nmaterials:\n  floor: {friction: 1}\n";
  for (int i = 0; i < 4; ++i)
    scratch_append(text, sizeof text, "  m%s: {friction: %g}\n", names[i],
                   friction[i] * friction[i]);
  scratch_append(text, sizeof text,
                 "bodies:\n"
                 "  - {name: floor, fixed: true, shape: {plane: {}}, material: floor}\n");
  for (int i = 0; i < 4; ++i)
    scratch_append(text, sizeof text,
                   "  - {name: %s, mass: %g, shape: {box: [0.2, 0.2, 0.1]}, xyz: [0, %g, 0.05], "
                   "lin: [1.5, 0.3, 0], material: m%s}\n",
                   names[i], mass[i], 0.25 * i, names[i]);
  scratch_append(text, sizeof text, "connections:\n");
  for (int i = 0; i < 3; ++i)
    scratch_append(text, sizeof text, "  - {type: ball, a: %s, b: %s, at: [0, 0.125, 0]}\n",
                   names[i], names[i + 1]);
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    for (int k = 0; k < METHODS; ++k) {
      tabi_scene *scene = load_scene_text(text, "joined.yaml", NULL);
      pair p = open_pair(scene, load_shuffled_text(text, "joined.yaml", seed), methods[k]);
      for (int i = 0; i < 500; ++i)
        advance_both(&p);
      assert_true(difference(&p, true) == 0);
      close_pair(&p);
      tabi_scene_destroy(p.scene);
      tabi_scene_destroy(p.other_scene);
    }
  }
}

/* -- load sharing */

/* Two boxes that are welded together and slide, one on ice; `first` and `last` are their names in
 * the order of the file. */
static double slide_welded(const char *ice, const char *rough, bool ice_first,
                           tabi_contact_kind method) {
  const char *name[2] = {ice_first ? ice : rough, ice_first ? rough : ice};
  char text[2048] = "timestep: 1e-3\nduration: 1\nmaterials:\n"
                    "  floor: {friction: 1}\n  ice: {friction: 0.1}\n  rough: {friction: 0.6}\n"
                    "pairs:\n  - [floor, ice, {friction: 0.1}]\n"
                    "  - [floor, rough, {friction: 0.6}]\n"
                    "bodies:\n"
                    "  - {name: floor, fixed: true, shape: {plane: {}}, material: floor}\n";
  for (int i = 0; i < 2; ++i) {
    bool is_ice = strcmp(name[i], ice) == 0;
    scratch_append(text, sizeof text,
                   "  - {name: %s, mass: 2, shape: {box: [0.2, 0.2, 0.1]}, "
                   "xyz: [0, %s, 0.05], lin: [1.5, 0, 0], material: %s}\n",
                   name[i], is_ice ? "0.2" : "-0.2", is_ice ? "ice" : "rough");
  }
  scratch_append(text, sizeof text, "connections:\n  - {type: fixed, a: %s, b: %s}\n", name[0],
                 name[1]);
  tabi_scene *scene = load_scene_text(text, "welded.yaml", NULL);
  tabi_world *world = open_world_with(scene, method);
  for (int i = 0; i < 1000; ++i)
    step_world(scene, world);
  const tabi_model *model = tabi_world_model(world);
  int32_t link = tabi_model_find_link(model, ice);
  int32_t joint = TABI_NONE;
  for (int32_t j = 0; j < tabi_model_njoint(model); ++j)
    if (tabi_model_joint(model, j).child == link) joint = j;
  double x = tabi_world_q(world)[tabi_model_joint_q(model, joint).first];
  tabi_world_destroy(world);
  tabi_scene_destroy(scene);
  return x;
}

/* Rigid bodies leave open which corner carries how much, and friction depends on it.  With other
 * names contacts are visited in another order, too; the rule must not notice.  On springs the same
 * loads follow from the laws of penalty, which are unique. */
static void test_welded_boxes(void **state) {
  (void)state;
  double springs = slide_welded("a", "b", true, TABI_CONTACT_PENALTY);
  static const tabi_contact_kind ruled[] = {TABI_CONTACT_CONE, TABI_CONTACT_EXACT};
  for (size_t k = 0; k < sizeof ruled / sizeof *ruled; ++k) {
    double x = slide_welded("a", "b", true, ruled[k]);
    assert_near(x, springs, 1e-4);
    assert_near(slide_welded("a", "b", false, ruled[k]), x, 1e-9);
    assert_near(slide_welded("z", "b", true, ruled[k]), x, 1e-9);
    assert_near(slide_welded("z", "b", false, ruled[k]), x, 1e-9);
  }
  /* no rule, but names decide, not the file */
  assert_near(slide_welded("a", "b", true, TABI_CONTACT_LCP),
              slide_welded("a", "b", false, TABI_CONTACT_LCP), 1e-6);
  assert_near(slide_welded("a", "b", true, TABI_CONTACT_IMPULSE),
              slide_welded("z", "b", true, TABI_CONTACT_IMPULSE), 1e-9);
}

/* -- the whole matrix, printed */

static int print_all(double seconds, const char *only) {
  int beyond = 0;
  printf("%-18s %-8s %9s %9s %9s %9s\n", "scene", "method", "one step", "/ allowed", "beyond",
         "after 2 s");
  for (size_t i = 0; i < sizeof all_scenes / sizeof *all_scenes; ++i) {
    const char *name = all_scenes[i];
    for (int k = 0; k < METHODS && (!only || strcmp(only, name) == 0); ++k) {
      finding f = check_steps(name, methods[k], seconds);
      printf("%-18s %-8s %9.1e %9.1e %3d of %d %9.1e\n", name,
             tabi_contact_describe(methods[k])->name, f.worst, f.excess, f.beyond, STATES,
             check_run(name, methods[k], 2).apart);
      (void)fflush(stdout);
      beyond += f.beyond;
    }
  }
  return beyond > 0;
}

static int begin(void **state) {
  (void)scratch_begin(state);
  write_files(SEED);
  return 0;
}

/* test_scene_order all [SECONDS [SCENE]] */
int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "all") == 0) {
    (void)begin(NULL);
    int wrong = print_all(argc > 2 ? strtod(argv[2], NULL) : HUGE_VAL, argc > 3 ? argv[3] : NULL);
    (void)scratch_end(NULL);
    return wrong;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_steps), cmocka_unit_test(test_two_seconds),
      cmocka_unit_test(test_same_bits), cmocka_unit_test(test_joined_boxes),
      cmocka_unit_test(test_welded_boxes)};
  return cmocka_run_group_tests(tests, begin, scratch_end);
}
