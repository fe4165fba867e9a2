/* test_loops.c - every kind of connection moves and carries like the joints that do the same. */
#include "../analytic/mechanism.h"

#include <string.h>

/* A connection, and joints in a row that leave the same freedom: x, y, z slide, X, Y, Z turn,
 * b is a ball, p a plane across z. */
typedef struct kind {
  const char *name;
  tabi_connection_type type;
  uint32_t axes;
  const char *joints;
} kind;

#define POINT  (TABI_MOVE_X | TABI_MOVE_Y | TABI_MOVE_Z)
#define TURNS  (TABI_TURN_X | TABI_TURN_Y | TABI_TURN_Z)
#define HINGED (TABI_TURN_X | TABI_TURN_Y)

static const kind kinds[] = {
    {"fixed",         TABI_CONNECTION_FIXED,  0,                                  ""     },
    {"hinge",         TABI_CONNECTION_HINGE,  0,                                  "Z"    },
    {"ball",          TABI_CONNECTION_BALL,   0,                                  "b"    },
    {"hinge about x", TABI_CONNECTION_AXES,   POINT | TABI_TURN_Y | TABI_TURN_Z,  "X"    },
    {"hinge about y", TABI_CONNECTION_AXES,   POINT | TABI_TURN_X | TABI_TURN_Z,  "Y"    },
    {"slide along x", TABI_CONNECTION_AXES,   TABI_MOVE_Y | TABI_MOVE_Z | TURNS,  "x"    },
    {"cylinder",      TABI_CONNECTION_AXES,   TABI_MOVE_X | TABI_MOVE_Y | HINGED, "zZ"   },
    {"plane",         TABI_CONNECTION_AXES,   TABI_MOVE_Z | HINGED,               "p"    },
    {"move x held",   TABI_CONNECTION_AXES,   TABI_MOVE_X,                        "yzb"  },
    {"move y held",   TABI_CONNECTION_AXES,   TABI_MOVE_Y,                        "xzb"  },
    {"move z held",   TABI_CONNECTION_AXES,   TABI_MOVE_Z,                        "xyb"  },
    {"turn x held",   TABI_CONNECTION_AXES,   POINT | TABI_TURN_X,                "YZ"   },
    {"turn y held",   TABI_CONNECTION_AXES,   POINT | TABI_TURN_Y,                "ZX"   },
    {"turn z held",   TABI_CONNECTION_AXES,   POINT | TABI_TURN_Z,                "XY"   },
    {"only turn z",   TABI_CONNECTION_AXES,   TABI_TURN_Z,                        "xyzXY"},
    {"turns held",    TABI_CONNECTION_AXES,   TURNS,                              "xyz"  },
    {"rod",           TABI_CONNECTION_ROD,    0,                                  "XYb"  },
    {"spring",        TABI_CONNECTION_SPRING, 0,                                  "XYzb" },
};
#define KINDS (sizeof kinds / sizeof *kinds)

/* of rod and spring */
#define LENGTH    0.4
#define STIFFNESS 300.0
#define DAMPING   2.0

/* the connection's frame in the world; the body's own is that frame, its centre elsewhere */
static v3 place(void) { return v3_make(0.3, -0.2, 1); }
static q4 turned(void) { return q_exp(v3_make(0.4, -0.7, 0.5)); }

static int32_t add_body(scene *s, tabi_joint_def joint) {
  return scene_link(s, 2, v3_make(0.1, 0.2, -0.3), v3_make(0.03, 0.05, 0.04), joint);
}

static tabi_joint_type type_of(char letter) {
  if (letter == 'b') return TABI_JOINT_BALL;
  if (letter == 'p') return TABI_JOINT_PLANAR;
  return letter >= 'x' ? TABI_JOINT_PRISMATIC : TABI_JOINT_CONTINUOUS;
}

static v3 axis_of(char letter) {
  int k = letter >= 'x' ? letter - 'x' : letter - 'X';
  if (letter == 'b' || letter == 'p') k = 2;
  return v3_make(k == 0, k == 1, k == 2);
}

/* the body behind joints that move at the start; links between have no mass */
static int32_t open_jointed(scene *s, const kind *k, tabi_integrator integrator) {
  *s = scene_begin();
  tabi_joint_def joint = scene_hinge(TABI_JOINT_FIXED, TABI_WORLD, place(), v3_make(0, 0, 1));
  q_store(turned(), joint.quat);
  int32_t link = scene_link(s, 0, v3_zero(), v3_zero(), joint);
  bool distant = k->type == TABI_CONNECTION_ROD || k->type == TABI_CONNECTION_SPRING;
  for (const char *c = k->joints; *c != '\0'; ++c) {
    /* what follows the two turns of a rod or spring is at its far end */
    v3 at = v3_make(0, 0, distant && c == k->joints + 2 ? LENGTH : 0);
    joint = scene_hinge(type_of(*c), link, at, axis_of(*c));
    if (k->type == TABI_CONNECTION_SPRING && *c == 'z') joint.stiffness = STIFFNESS;
    if (k->type == TABI_CONNECTION_SPRING && *c == 'z') joint.damping = DAMPING;
    link = c[1] == '\0' ? add_body(s, joint) : scene_link(s, 0, v3_zero(), v3_zero(), joint);
  }
  if (k->joints[0] == '\0') {
    link = add_body(s, scene_hinge(TABI_JOINT_FIXED, link, v3_zero(), v3_make(0, 0, 1)));
  }
  mechanism_open(s, integrator, 1e-3);
  double v[12];
  for (int j = 0; j < 12; ++j)
    v[j] = 1 - 0.7 * j;
  assert_int_equal(tabi_world_set_state(s->world, tabi_world_q(s->world), v, NULL), TABI_OK);
  return link;
}

/* the same body, free but for the connection, put where the other is */
static int32_t open_connected(scene *s, const kind *k, tabi_integrator integrator, scene *other,
                              int32_t twin) {
  *s = scene_begin();
  tabi_joint_def joint = scene_hinge(TABI_JOINT_FREE, TABI_WORLD, v3_zero(), v3_make(0, 0, 1));
  int32_t body = add_body(s, joint);
  tabi_connection_def def = mechanism_join(k->type, TABI_WORLD, place(), body, v3_zero());
  q_store(turned(), def.quat_a);
  def.axes = k->axes;
  def.length = LENGTH;
  def.stiffness = STIFFNESS;
  def.damping = DAMPING;
  tabi_builder_add_connection(s->builder, &def);
  mechanism_open(s, integrator, 1e-3);
  double q[7];
  double v[6];
  const tabi_dynamics *d = tabi_world_dynamics(other->world);
  tabi_dynamics_link_pose(d, twin, q, q + 3);
  tabi_dynamics_link_velocity(d, twin, v, v + 3);
  scene_set(s, body, q, v);
  return body;
}

static double apart(scene *a, int32_t link_a, scene *b, int32_t link_b) {
  double pose_a[7];
  double pose_b[7];
  tabi_dynamics_link_pose(tabi_world_dynamics(a->world), link_a, pose_a, pose_a + 3);
  tabi_dynamics_link_pose(tabi_world_dynamics(b->world), link_b, pose_b, pose_b + 3);
  double sign = 0;
  for (int i = 3; i < 7; ++i)
    sign += pose_a[i] * pose_b[i];
  double worst = 0;
  for (int i = 0; i < 7; ++i)
    worst = fmax(worst, fabs(pose_a[i] - (i > 2 && sign < 0 ? -pose_b[i] : pose_b[i])));
  return worst;
}

/* the farthest that both models of one mechanism get apart in half a second */
static double compare(const kind *k, tabi_integrator integrator) {
  scene a;
  scene b;
  int32_t link_a = open_jointed(&a, k, integrator);
  int32_t link_b = open_connected(&b, k, integrator, &a, link_a);
  double worst = 0;
  for (int i = 0; i < 500; ++i) {
    scene_run(&a, 1);
    scene_run(&b, 1);
    worst = fmax(worst, apart(&a, link_a, &b, link_b));
  }
  scene_close(&a);
  scene_close(&b);
  return worst;
}

static void like_joints(void **state) {
  (void)state;
  for (size_t i = 0; i < KINDS; ++i) {
    double fine = compare(&kinds[i], TABI_RK4);
    double coarse = compare(&kinds[i], TABI_SEMI_IMPLICIT);
    print_message("%-14s against joints: %.2g by rk4, %.2g by default\n", kinds[i].name, fine,
                  coarse);
    assert_true(fine < 1e-6);
    assert_true(coarse < 0.025);
  }
}

#define WEIGHT (2 * GRAVITY)

static void assert_force(const double *force, double x, double y, double z) {
  assert_near(force[0], x, 1e-8 * WEIGHT);
  assert_near(force[1], y, 1e-8 * WEIGHT);
  assert_near(force[2], z, 1e-8 * WEIGHT);
}

/* A weight hangs from a point, is welded to a wall at a distance, and is held from below: what b
 * feels is its weight, up, and the moment of the weight about the weld. */
static void weights(void **state) {
  (void)state;
  for (int i = 0; i < 2; ++i) {
    tabi_integrator integrator = i == 0 ? TABI_SEMI_IMPLICIT : TABI_RK4;
    scene s = scene_begin();
    int32_t hung = scene_free(&s, 2, v3_make(0.1, 0.1, 0.1), v3_zero());
    int32_t welded = scene_free(&s, 2, v3_make(0.1, 0.1, 0.1), v3_zero());
    int32_t held = scene_free(&s, 2, v3_make(0.1, 0.1, 0.1), v3_make(1, 0, 0));
    v3 above = v3_make(0, 0, 0.5);
    v3 aside = v3_make(-0.5, 0, 0);
    mechanism_connect(&s, TABI_CONNECTION_BALL, TABI_WORLD, above, hung, above);
    mechanism_connect(&s, TABI_CONNECTION_FIXED, TABI_WORLD, aside, welded, aside);
    mechanism_connect(&s, TABI_CONNECTION_BALL, held, v3_zero(), TABI_WORLD, v3_make(1, 0, 0));
    mechanism_open(&s, integrator, 1e-3);
    scene_run(&s, 50);
    tabi_connection_state hangs = tabi_world_connection(s.world, 0);
    tabi_connection_state weld = tabi_world_connection(s.world, 1);
    tabi_connection_state stands = tabi_world_connection(s.world, 2);
    print_message("weights, %s: %.12g N, weld %.12g N and %.12g N m, off by %.2g m\n",
                  tabi_integrator_name(integrator), hangs.force[2], weld.force[2], weld.torque[1],
                  fmax(hangs.gap, weld.gap));
    assert_force(hangs.force, 0, 0, WEIGHT);
    assert_force(hangs.torque, 0, 0, 0);
    assert_force(weld.force, 0, 0, WEIGHT);
    assert_force(weld.torque, 0, -0.5 * WEIGHT, 0);
    assert_force(stands.force, 0, 0, -WEIGHT);
    assert_true(fmax(hangs.gap, weld.gap) < 1e-12);
    assert_false(weld.redundant);
    scene_close(&s);
  }
}

/* A beam turns about its end and carries its own weight in its middle; a rod goes from its tip up
 * at 45 degrees.  Moments about the hinge: tension = weight / 2 / sin 45. */
static void lever(void **state) {
  (void)state;
  scene s = scene_begin();
  tabi_joint_def hinge =
      scene_hinge(TABI_JOINT_CONTINUOUS, TABI_WORLD, v3_zero(), v3_make(0, 1, 0));
  int32_t beam = scene_link(&s, 2, v3_make(0.5, 0, 0), v3_make(0.1, 0.1, 0.1), hinge);
  tabi_connection_def rod =
      mechanism_join(TABI_CONNECTION_ROD, TABI_WORLD, v3_make(0, 0, 1), beam, v3_make(1, 0, 0));
  rod.length = sqrt(2);
  tabi_builder_add_connection(s.builder, &rod);
  mechanism_open(&s, TABI_SEMI_IMPLICIT, 1e-3);
  scene_run(&s, 50);
  tabi_connection_state tie = tabi_world_connection(s.world, 0);
  print_message("lever: rod pulls with (%.10g, %.10g) N\n", tie.force[0], tie.force[2]);
  assert_force(tie.force, -0.5 * WEIGHT, 0, 0.5 * WEIGHT);
  scene_close(&s);
}

/* A gear: the second wheel turns half as fast as the first and backwards.  The torque sees
 * I1 + I2 / 4. */
static void gear(void **state) {
  (void)state;
  for (int i = 0; i < 2; ++i) {
    tabi_integrator integrator = i == 0 ? TABI_SEMI_IMPLICIT : TABI_RK4;
    scene s = scene_begin();
    int32_t wheel = mechanism_bar(&s, TABI_WORLD, v3_zero(), 1, v3_zero(), 0.1);
    int32_t slow = mechanism_bar(&s, TABI_WORLD, v3_make(1, 0, 0), 4, v3_zero(), 0.8);
    tabi_coupling_def def = tabi_coupling_def_default();
    def.joint = tabi_builder_find_joint(s.builder, "joint1");
    def.leader = tabi_builder_find_joint(s.builder, "joint0");
    def.coef[1] = -0.5;
    tabi_builder_add_coupling(s.builder, &def);
    mechanism_open(&s, integrator, 1e-3);
    const double tau[2] = {0.6, 0};
    for (int k = 0; k < 1000; ++k)
      assert_int_equal(tabi_world_step(s.world, tau), TABI_OK);
    double rate = scene_v(&s, wheel)[0];
    double slip = scene_q(&s, slow)[0] + 0.5 * scene_q(&s, wheel)[0];
    print_message("gear, %s: %.12g rad/s after 1 s, slip %.2g rad\n",
                  tabi_integrator_name(integrator), rate, slip);
    assert_near(rate, 0.6 / (0.1 + 0.8 / 4), 1e-9);
    assert_near(slip, 0, 1e-12);
    scene_close(&s);
  }
}

/* Two geared wheels on a box that falls, joined by a spring to the box as well: whatever the floor
 * does to a wheel, the gear does not slip within a step. */
static void gear_beside_a_spring(void **state) {
  (void)state;
  scene s = scene_begin();
  int32_t stuff = scene_material(&s, 0.5, 0);
  scene_plane(&s, 0, stuff);
  int32_t box = scene_box(&s, 1, v3_make(0.3, 0.1, 0.1), v3_make(0, 0, 0.2), stuff);
  int32_t wheel[2];
  for (int i = 0; i < 2; ++i) {
    tabi_joint_def axle =
        scene_hinge(TABI_JOINT_CONTINUOUS, box, v3_make(0.3 - 0.6 * i, 0, 0), v3_make(0, 1, 0));
    wheel[i] = scene_link(&s, 0.5, v3_make(0.02, 0, 0), v3_make(2e-3, 2e-3, 2e-3), axle);
    (void)scene_shape(&s, TABI_SHAPE_SPHERE, wheel[i], v3_make(0.1, 0, 0), stuff);
  }
  tabi_coupling_def gear = tabi_coupling_def_default();
  gear.joint = tabi_builder_find_joint(s.builder, "joint2");
  gear.leader = tabi_builder_find_joint(s.builder, "joint1");
  gear.coef[1] = -0.5;
  (void)tabi_builder_add_coupling(s.builder, &gear);
  tabi_connection_def spring = tabi_connection_def_default();
  spring.type = TABI_CONNECTION_SPRING;
  spring.a = box;
  spring.b = wheel[0];
  spring.pos_b[0] = 0.08;
  spring.length = 0.2;
  spring.stiffness = STIFFNESS;
  spring.damping = DAMPING;
  (void)tabi_builder_add_connection(s.builder, &spring);
  scene_open(&s, NULL);
  scene_set_velocity(&s, box, v3_make(0.5, 0.1, 0), v3_make(0.3, 1, 0.2));
  double worst = 0, fastest = 0;
  for (int i = 0; i < 1000; ++i) {
    scene_run(&s, 1);
    double rate = scene_v(&s, wheel[0])[0];
    worst = fmax(worst, fabs(scene_v(&s, wheel[1])[0] + 0.5 * rate));
    fastest = fmax(fastest, fabs(rate));
  }
  print_message("gear beside a spring: slips at %.1e rad/s of %.1f\n", worst, fastest);
  assert_true(fastest > 0.1);
  assert_near(worst, 0, 1e-10);
  scene_close(&s);
}

/* A crank that turns as told lifts a weight by a rod.  The work of its motor is the energy of all,
 * whichever end of the rod the crank is. */
static double lift(bool crank_first) {
  scene s = scene_begin();
  mechanism_gravity(&s, v3_make(0, -GRAVITY, 0));
  v3 end = v3_make(0.2, 0, 0);
  v3 low = v3_make(0.2, -0.5, 0);
  int32_t crank = mechanism_bar(&s, TABI_WORLD, v3_zero(), 1, v3_make(0.1, 0, 0), 0.01);
  int32_t weight = scene_free(&s, 2, v3_make(0.02, 0.02, 0.02), low);
  tabi_connection_def rod = mechanism_join(TABI_CONNECTION_ROD, crank, end, weight, v3_zero());
  if (!crank_first) rod = mechanism_join(TABI_CONNECTION_ROD, weight, v3_zero(), crank, end);
  rod.length = 0.5;
  tabi_builder_add_connection(s.builder, &rod);
  mechanism_open(&s, TABI_SEMI_IMPLICIT, 1e-4);
  mechanism_set(&s, crank, 0, 1);
  scene_set_velocity(&s, weight, v3_make(0, 0.2, 0), v3_zero());
  double start = scene_energy(&s);
  tabi_motion motion = {.v = {1}};
  tabi_world_set_motion(s.world, scene_joint(&s, crank), &motion);
  scene_run(&s, 2000);
  double work = tabi_world_energy(s.world).work;
  double gained = scene_energy(&s) - start;
  scene_close(&s);
  print_message("work %.6g J, energy gained %.6g J\n", work, gained);
  assert_near(work, gained, 1e-3 * gained);
  return work;
}

static void told_motion_works_through_loops(void **state) {
  (void)state;
  assert_near(lift(true), lift(false), 1e-9);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(like_joints),
      cmocka_unit_test(weights),
      cmocka_unit_test(lever),
      cmocka_unit_test(gear),
      cmocka_unit_test(gear_beside_a_spring),
      cmocka_unit_test(told_motion_works_through_loops),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
