/* test_rolling.c - rolling and torsional friction of materials, under every method that obeys it:
 * balls, wheels and flat bodies whose motion is known.
 *
 * With rolling friction rho a body of mass m, radius r and inertia I that rolls without slipping on
 * a slope has, about the point of contact,
 *     (I + m r^2) a / r = m g r sin - rho m g cos,
 * and holds while tan <= rho / r. */
#include "math/vec.h"
#include "support/load.h"
#include "support/near.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define G     9.81
#define STEP  1e-3
#define RHO   2e-3 /* m, rolling */
#define RHO_T 3e-3 /* m, torsional */
#define R     0.1  /* m */

/* How far a method may be from the law. */
typedef struct method {
  const char *name;
  double share;  /* of a steady motion */
  double creep;  /* m/s or rad/s at rest */
  double begins; /* m/s or rad/s, by what happens at the start while springs are loaded */
} method;

static const method methods[] = {
    {"cone",    1e-9, 1e-9, 0   },
    {"exact",   1e-9, 1e-9, 0   },
    {"penalty", 1e-7, 1e-6, 5e-3},
};
#define NMETHOD (int)(sizeof methods / sizeof *methods)

static const char felt[] =
    "materials: {felt: {friction: 0.5, rolling_friction: 2e-3, torsional_friction: 3e-3}}\n";

static scene_world open_text(const method *m, const char *materials, const char *bodies) {
  char text[1000];
  (void)snprintf(text, sizeof text, "contact: {model: %s}\ntimestep: 1e-3\n%sbodies:\n%s", m->name,
                 materials, bodies);
  return scene_world_open(load_scene_text(text, "rolling.yaml", NULL));
}

/* A ball on a plane of that tilt about y, downhill being x. */
static scene_world open_ball(const method *m, double tilt, double speed, double spin) {
  char bodies[500];
  (void)snprintf(bodies, sizeof bodies,
                 "  - {name: ground, fixed: true, shape: {plane: {}}, rpy: [0, %.17g, 0],"
                 " material: felt}\n"
                 "  - {name: ball, mass: 2, shape: {sphere: 0.1}, material: felt,\n"
                 "     xyz: [%.17g, 0, %.17g], lin: [%.17g, 0, %.17g], ang: [0, %.17g, %.17g]}\n",
                 tilt, R * sin(tilt), R * cos(tilt), speed * cos(tilt), -speed * sin(tilt),
                 speed / R, spin);
  return open_text(m, felt, bodies);
}

static void run(const scene_world *s, double time) {
  double end = tabi_world_time(s->world) + time - 1e-9;
  while (tabi_world_time(s->world) < end)
    step_world(s->scene, s->world);
}

static double speed_of(const scene_world *s) { return v3_norm(v3_load(tabi_world_v(s->world))); }

/* a = rho g / (1.4 r), until it lies still for ever; the springs of penalty are loaded first */
static void ball_slows_down(void **state) {
  (void)state;
  double a = RHO * G / (1.4 * R);
  for (int i = 0; i < NMETHOD; ++i) {
    scene_world s = open_ball(&methods[i], 0, 0.2, 0);
    run(&s, 1);
    assert_near(speed_of(&s), 0.2 - a, methods[i].share * 0.2);
    run(&s, 0.2 / a - 1 + 3);
    assert_near(speed_of(&s), 0, methods[i].creep);
    assert_near(tabi_world_q(s.world)[0], 0.2 * 0.2 / (2 * a), STEP * 0.2 + methods[i].begins);
    scene_world_close(&s);
  }
}

/* I w0 = rho_t m g t */
static void ball_stops_spinning(void **state) {
  (void)state;
  double slowing = RHO_T * G / (0.4 * R * R);
  for (int i = 0; i < NMETHOD; ++i) {
    scene_world s = open_ball(&methods[i], 0, 0, 5);
    run(&s, 0.3);
    assert_near(tabi_world_v(s.world)[5], 5 - slowing * 0.3, methods[i].share * 5);
    run(&s, 1);
    assert_near(v3_norm(v3_load(tabi_world_v(s.world) + 3)), 0, methods[i].creep);
    assert_near(speed_of(&s), 0, methods[i].creep);
    scene_world_close(&s);
  }
}

static void ball_holds_on_slope(void **state) {
  (void)state;
  double limit = RHO / R;
  for (int i = 0; i < NMETHOD; ++i) {
    scene_world s = open_ball(&methods[i], atan(0.99 * limit), 0, 0);
    run(&s, 6);
    assert_near(speed_of(&s), 0, methods[i].creep);
    scene_world_close(&s);
    double tilt = atan(2 * limit);
    s = open_ball(&methods[i], tilt, 0, 0);
    run(&s, 1);
    double before = speed_of(&s);
    run(&s, 1);
    double a = G * (sin(tilt) - limit * cos(tilt)) / 1.4;
    assert_near(speed_of(&s) - before, a, methods[i].share * a);
    scene_world_close(&s);
  }
}

/* Just above the limit it rolls away. */
static void ball_rolls_above_limit(void **state) {
  (void)state;
  double limit = RHO / R;
  for (int i = 0; i < NMETHOD; ++i) {
    double tilt = atan(1.01 * limit);
    scene_world s = open_ball(&methods[i], tilt, 0, 0);
    run(&s, 4);
    assert_true(speed_of(&s) > 0.9 * 4 * G * (sin(tilt) - limit * cos(tilt)) / 1.4 - 0.002);
    scene_world_close(&s);
  }
}

/* A wheel touches along a line: its points share the couple.  a = rho g / (1.5 r). */
static void wheel_slows_down(void **state) {
  (void)state;
  for (int i = 0; i < NMETHOD; ++i) {
    scene_world s =
        open_text(&methods[i], felt,
                  "  - {name: ground, fixed: true, shape: {plane: {}}, material: felt}\n"
                  "  - {name: wheel, mass: 300, shape: {cylinder: [0.1, 0.06]},\n"
                  "     material: felt, xyz: [0, 0, 0.1], rpy: [1.5707963267948966, 0,"
                  " 0],\n     lin: [1, 0, 0], ang: [0, 10, 0]}\n");
    run(&s, 1);
    assert_near(speed_of(&s), 1 - RHO * G / (1.5 * R), methods[i].share + methods[i].begins);
    scene_world_close(&s);
  }
}

/* a box that lies flat, 0.3 x 0.4 m and 0.2 m high */
static scene_world open_box(const method *m, const char *materials) {
  return open_text(m, materials,
                   "  - {name: ground, fixed: true, shape: {plane: {}}, material: felt}\n"
                   "  - {name: box, mass: 2, shape: {box: [0.3, 0.4, 0.2]}, material: felt,"
                   " xyz: [0, 0, 0.1]}\n");
}

/* after a time under a constant force and couple on the centre of the box */
static void run_pushed(const scene_world *s, double time, v3 force, v3 torque) {
  double f[3];
  double t[3];
  v3_store(force, f);
  v3_store(torque, t);
  double end = tabi_world_time(s->world) + time - 1e-9;
  int32_t box = tabi_model_find_link(tabi_scene_model(s->scene), "box");
  while (tabi_world_time(s->world) < end) {
    tabi_world_apply(s->world, box, f, t, tabi_world_q(s->world));
    step_world(s->scene, s->world);
  }
}

/* Its four points together bear rho_t m g, whatever share of the load each has; friction, whose
 * lever is that of the corners, as much again as mu times the half diagonal. */
static void couple_turns_box(void **state) {
  (void)state;
  static const struct {
    const char *materials;
    double lever;
  } cases[] = {
      {"materials: {felt: {friction: 0, torsional_friction: 3e-3}}\n",   RHO_T             },
      {"materials: {felt: {friction: 0.1, torsional_friction: 3e-3}}\n", RHO_T + 0.1 * 0.25},
  };
  double inertia = 2 * (0.3 * 0.3 + 0.4 * 0.4) / 12;
  for (int k = 0; k < NMETHOD * 2; ++k) {
    const method *m = &methods[k / 2];
    double limit = cases[k % 2].lever * 2 * G;
    scene_world s = open_box(m, cases[k % 2].materials);
    run_pushed(&s, 1, v3_zero(), v3_make(0, 0, 0.99 * limit));
    assert_near(tabi_world_v(s.world)[5], 0, m->creep + 0.01 * m->begins);
    run_pushed(&s, 0.2, v3_zero(), v3_make(0, 0, 2 * limit));
    double expected = 0.2 * limit / inertia;
    assert_near(tabi_world_v(s.world)[5], expected, m->share * expected + 0.01 * m->begins);
    scene_world_close(&s);
  }
}

/* A box that is about to topple has all its load at one edge, where rolling friction holds it
 * back: F h = m g (b / 2 + rho_r), F at the height h of its centre. */
static void force_topples_box(void **state) {
  (void)state;
  for (int i = 0; i < 2; ++i) { // penalty's edge is soft
    double limit = 2 * G * (0.15 + 0.02) / 0.1;
    scene_world s =
        open_box(&methods[i], "materials: {felt: {friction: 9, rolling_friction: 0.02}}\n");
    run_pushed(&s, 1, v3_make(0.999 * limit, 0, 0), v3_zero());
    assert_near(tabi_world_v(s.world)[4], 0, 1e-9);
    run_pushed(&s, 0.1, v3_make(1.05 * limit, 0, 0), v3_zero());
    assert_true(tabi_world_v(s.world)[4] > 1e-3);
    scene_world_close(&s);
  }
}

/* Two balls that meet head on without rebound, one of them spinning about the line of their
 * centres: the couple takes rho_t p from one and gives it to the other, or until both spin alike.
 */
static void balls_exchange_spin(void **state) {
  (void)state;
  double inertia = 0.4 * 2 * R * R;
  double impulse = 2 * 0.5 * 1; // reduced mass times closing speed
  for (int i = 0; i < 2; ++i) {
    for (int k = 0; k < 2; ++k) {
      double spin = k == 0 ? 5 : 0.1;
      double given = fmin(RHO_T * impulse / inertia, spin / 2);
      char bodies[400];
      (void)snprintf(bodies, sizeof bodies,
                     "  - {name: a, mass: 2, shape: {sphere: 0.1}, material: felt,"
                     " xyz: [-0.2, 0, 0], lin: [1, 0, 0], ang: [%g, 0, 0]}\n"
                     "  - {name: b, mass: 2, shape: {sphere: 0.1}, material: felt,"
                     " xyz: [0.2, 0, 0]}\ngravity: [0, 0, 0]\n",
                     spin);
      scene_world s = open_text(&methods[i], felt, bodies);
      run(&s, 0.3);
      const double *v = tabi_world_v(s.world);
      assert_near(v[0], 0.5, 1e-9);
      assert_near(v[3], spin - given, 1e-9);
      assert_near(v[9], given, 1e-9);
      scene_world_close(&s);
    }
  }
}

/* A ball that rests on a slope goes on resting in another world, with another method and time step;
 * after one that ignores couples it rolls for a step and is held again. */
static void ball_rests_in_another_world(void **state) {
  (void)state;
  double tilt = atan(0.5 * RHO / R);
  for (int k = 0; k < 4; ++k) { // under penalty it lies deeper, and would be pushed out
    scene_world s = open_ball(&methods[k / 2], tilt, 0, 0);
    tabi_world_def def = tabi_world_get_def(s.world);
    def.contact = k % 2 == 0 ? TABI_CONTACT_EXACT : TABI_CONTACT_LCP;
    def.timestep = 5e-4;
    def.tolerance = -1;
    def.iterations = 0;
    tabi_world *other = open_world(s.scene, &def);
    run(&s, 1);
    assert_int_equal(tabi_world_continue(other, s.world, NULL), TABI_OK);
    scene_world on = {s.scene, other};
    step_world(s.scene, other);
    double rolls = k % 2 == 0 ? 0 : 5e-4 * G * sin(tilt) / 1.4;
    assert_near(speed_of(&on), rolls, 1e-9 + 2 * methods[k / 2].creep);
    assert_int_equal(tabi_world_continue(s.world, other, NULL), TABI_OK);
    run(&s, 1);
    assert_near(speed_of(&s), 0, methods[k / 2].creep);
    tabi_world_destroy(other);
    scene_world_close(&s);
  }
}

static char said[1024];
static int times;

static void listen(void *user, const tabi_error *warning) {
  (void)user;
  ++times;
  (void)snprintf(said, sizeof said, "%s", warning->message);
}

/* The scene of a method that ignores it says so, once. */
static void ignoring_is_said(void **state) {
  (void)state;
  tabi_scene_def def = tabi_scene_def_default();
  def.warn = listen;
  for (int kind = 0; kind < TABI_CONTACT_COUNT * 2; ++kind) {
    const tabi_contact_info *info = tabi_contact_describe((tabi_contact_kind)(kind / 2));
    bool is_explicit = kind % 2 == 1;
    if (info->planar_biped || (is_explicit && info->implicit_only)) continue;
    bool obeys = info->couples && !(info->compliant && is_explicit);
    char text[400];
    (void)snprintf(text, sizeof text, "contact: {model: %s}\nintegrator: %s\n%s", info->name,
                   is_explicit ? "rk4" : "midpoint", felt);
    times = 0;
    tabi_scene_destroy(load_scene_text(text, "said.yaml", &def));
    assert_int_equal(times, obeys ? 0 : 1);
    if (obeys) continue;
    assert_non_null(strstr(said, info->name));
    assert_true((strstr(said, "under rk4") != NULL) == (is_explicit && info->couples));
  }
}

/* Those that ignore it roll on. */
static void others_ignore_it(void **state) {
  (void)state;
  static const method others[] = {
      {"lcp",           0, 0, 0},
      {"impulse",       0, 0, 0},
      {"cone-paper",    0, 0, 0},
      {"penalty-paper", 0, 0, 0}
  };
  for (size_t i = 0; i < sizeof others / sizeof *others; ++i) {
    scene_world s = open_ball(&others[i], 0, 1, 3);
    run(&s, 0.5);
    assert_near(speed_of(&s), 1, 1e-6);
    assert_near(tabi_world_v(s.world)[5], 3, 1e-6);
    scene_world_close(&s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ball_slows_down),     cmocka_unit_test(ball_stops_spinning),
      cmocka_unit_test(ball_holds_on_slope), cmocka_unit_test(ball_rolls_above_limit),
      cmocka_unit_test(wheel_slows_down),    cmocka_unit_test(couple_turns_box),
      cmocka_unit_test(force_topples_box),   cmocka_unit_test(balls_exchange_spin),
      cmocka_unit_test(others_ignore_it),    cmocka_unit_test(ball_rests_in_another_world),
      cmocka_unit_test(ignoring_is_said),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
