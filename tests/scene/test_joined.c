/* test_joined.c - bodies that a connection joins, and pairs that a scene excludes: what collides,
 * what is said about it, and that neither makes energy. */
#include "refused.h"
#include "support/load.h"
#include "support/near.h"
#include "support/scratch.h"
#include "tabi/tabi_io.h"

#include <stdio.h>
#include <string.h>

/* Two capsules end to end, bent by half a radian: their caps are both around the pin. */
#define CHAIN(collide)                                                                          \
  "duration: 1\n"                                                                               \
  "bodies:\n"                                                                                   \
  "  - {name: upper, mass: 1, shape: {capsule: [0.03, 0.2]}, xyz: [0, 0, 1]}\n"                 \
  "  - {name: lower, mass: 1, shape: {capsule: [0.03, 0.2]},\n"                                 \
  "     xyz: [-0.06232532, 0, 0.75591267], rpy: [0, 0.5, 0]}\n"                                 \
  "connections:\n"                                                                              \
  "  - {type: ball, name: hook, a: upper, b: world, at: [0, 0, 0.13]}\n"                        \
  "  - {type: hinge, name: pin, a: upper, b: lower, at: [0, 0, -0.13], axis: [0, 1, 0]" collide \
  "}\n"

typedef struct said {
  int32_t count;
  tabi_error last;
} said;

static void listen(void *user, const tabi_error *warning) {
  said *s = user;
  ++s->count;
  s->last = *warning;
}

static scene_world open_heard(const char *text, said *heard) {
  tabi_scene_def def = tabi_scene_def_default();
  def.warn = listen;
  def.warn_user = heard;
  return scene_world_open(load_scene_text(text, "dir/s.yaml", &def));
}

static double energy_of(tabi_world *world) {
  tabi_energy energy = tabi_world_energy(world);
  return energy.kinetic + energy.potential + energy.spring;
}

static int32_t contacts_of(const tabi_world *world) {
  int32_t count = 0;
  (void)tabi_world_contacts(world, &count);
  return count;
}

/* The most energy above that of the start, J. */
static double max_gain(scene_world *s, int32_t steps) {
  double start = energy_of(s->world);
  double gain = 0;
  for (int32_t i = 0; i < steps; ++i) {
    step_world(s->scene, s->world);
    gain = fmax(gain, energy_of(s->world) - start);
  }
  return gain;
}

/* Free of each other the two are a double pendulum, whatever solves contacts; before joined bodies
 * were left alone, they went from 17 J to hundreds within a second. */
static void test_chain_keeps_its_energy(void **state) {
  (void)state;
  static const tabi_contact_kind kinds[] = {TABI_CONTACT_CONE, TABI_CONTACT_EXACT,
                                            TABI_CONTACT_PENALTY, TABI_CONTACT_IMPULSE};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    said heard = {0};
    scene_world s = open_heard(CHAIN(""), &heard);
    tabi_world_destroy(s.world);
    s.world = open_world_with(s.scene, kinds[i]);
    assert_true(max_gain(&s, 1000) < 0.05);
    assert_int_equal(contacts_of(s.world), 0);
    scene_world_close(&s);
  }
}

static void test_overlap_is_told(void **state) {
  (void)state;
  said heard = {0};
  scene_world s = open_heard(CHAIN(""), &heard);
  assert_int_equal(heard.count, 1);
  assert_non_null(strstr(heard.last.message, "connection 'pin': link 'upper' and link 'lower'"));
  assert_non_null(strstr(heard.last.message, "they do not collide"));
  assert_int_equal(heard.last.line, 8);
  scene_world_close(&s);

  heard = (said){0};
  s = open_heard(CHAIN(", collide: true"), &heard);
  assert_int_equal(heard.count, 1);
  assert_non_null(strstr(heard.last.message, "leave collide out"));
  step_world(s.scene, s.world);
  assert_true(contacts_of(s.world) > 0);
  scene_world_close(&s);
}

#define APART                                                                 \
  "bodies:\n"                                                                 \
  "  - {name: a, mass: 1, shape: {box: [0.1, 0.1, 0.1]}, xyz: [0, 0, 0]}\n"   \
  "  - {name: b, mass: 1, shape: {box: [0.1, 0.1, 0.1]}, xyz: [0.2, 0, 0]}\n" \
  "connections: [{type: hinge, name: pin, a: a, b: b, at: [0.1, 0, 0], axis: [0, 0, 1]}]\n"

/* Joined shapes that do not overlap are nobody's business. */
static void test_apart_is_not_told(void **state) {
  (void)state;
  said heard = {0};
  scene_world s = open_heard(APART, &heard);
  assert_int_equal(heard.count, 0);
  scene_world_close(&s);
}

/* Two balls and the base of a robot in one place, and its arm and hand beside them, which come
 * nearer: what overlaps at first would not collide with its own robot. */
static const char robot[] =
    "<mujoco><worldbody><body name='base'><freejoint/><geom size='0.1'/>"
    "<body name='arm' pos='0.2005 0 0'><joint name='slide' type='slide' axis='1 0 0'/>"
    "<geom size='0.1'/>"
    "<body name='hand'><joint axis='0 1 0'/><geom size='0.1'/></body></body></body></worldbody>"
    "</mujoco>";

#define CROWD                                                         \
  "gravity: [0, 0, 0]\n"                                              \
  "bodies:\n"                                                         \
  "  - {name: a, mass: 1, shape: {sphere: 0.1}, xyz: [0.01, 0, 0]}\n" \
  "  - {name: b, mass: 1, shape: {sphere: 0.1}, xyz: [0, 0.01, 0]}\n" \
  "robots: [{name: r, model: r.xml, velocity: {slide: -1}}]\n"

/* The pairs of links that meet in the first step, as letters: a, b, r (base), m (arm), h (hand). */
static void meetings(const char *text, char *to) {
  static const char letter[] = "abrmh";
  said heard = {0};
  tabi_scene_def def = tabi_scene_def_default();
  def.warn = listen;
  def.warn_user = &heard;
  scene_world s = scene_world_open(load_scene_text(text, scratch_path("s.yaml"), &def));
  step_world(s.scene, s.world);
  bool met[5][5] = {{false}};
  int32_t count = 0;
  const tabi_contact *contact = tabi_world_contacts(s.world, &count);
  for (int32_t i = 0; i < count; ++i)
    met[contact[i].link_a][contact[i].link_b] = true;
  for (int i = 0; i < 5; ++i) {
    for (int k = 0; k < 5; ++k) {
      if (!met[i][k]) continue;
      *to++ = letter[i];
      *to++ = letter[k];
      *to++ = ' ';
    }
  }
  *to = '\0';
  scene_world_close(&s);
}

static void test_no_collision(void **state) {
  (void)state;
  static const struct {
    const char *key, *met;
  } cases[] = {
      {"",                                     "ab ar am ah br bm bh rh "},
      {"no_collision: [[b, a]]\n",             "ar am ah br bm bh rh "   },
      {"no_collision: [[a, r/arm], [r, b]]\n", "ab ar ah rh "            },
      {"no_collision: [[r, r]]\n",             "ab ar am ah br bm bh "   },
      {"no_collision: [[r, r/hand]]\n",        "ab ar am ah br bm bh "   },
      {"no_collision: []\n",                   "ab ar am ah br bm bh rh "},
  };
  (void)scratch_text("r.xml", robot);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    char text[1024];
    char met[128];
    (void)snprintf(text, sizeof text, "%s%s", CROWD, cases[i].key);
    meetings(text, met);
    assert_string_equal(met, cases[i].met);
  }
}

static void test_refused(void **state) {
  (void)state;
  static const refused scenes[] = {
      {CROWD "no_collision: [[a, r/arms]]\n",                                                            6,
       "no_collision: no body, robot or robot/link is called 'r/arms' (did you mean 'r/arm'?)"                                              },
      {CROWD "no_collision: [[a, r/hnd]]\n",                                                             6, "(did you mean 'r/hand'?)"      },
      {CROWD "no_collision: [[a, a]]\n",                                                                 6, "'a' never collides with itself"},
      {CROWD "no_collision: [a, b]\n",                                                                   6, "expected two names, [a, b]"    },
      {CROWD "no_collision: [[a, b, r]]\n",                                                              6, "expected two names, [a, b]"    },
      {CROWD
       "connections: [{type: rod, a: a, b: b, at: [0, 0, 0], at_b: [1, 0, 0], collide: true}]\n", 6, "type rod has no 'collide'"     },
      {CROWD "connections: [{type: ball, a: a, b: b, at: [0, 0, 0], collide: 3}]\n",                     6, "collide"                       },
  };
  (void)scratch_text("r.xml", robot);
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; ++i) {
    const char *path = scratch_text("s.yaml", scenes[i].text);
    refused_check(path, &scenes[i], path);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_chain_keeps_its_energy),
      cmocka_unit_test(test_overlap_is_told),
      cmocka_unit_test(test_apart_is_not_told),
      cmocka_unit_test(test_no_collision),
      cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
