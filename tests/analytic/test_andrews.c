/* test_andrews.c - Andrews' squeezing mechanism: seven bodies, three loops, fast.
 *
 * Joint angles, lengths and numbers are those of the problem as it is known from the literature on
 * differential-algebraic equations.  K1 turns about O and carries K2; K3 turns about B and feels
 * the spring; K5 carries K4 and K7 carries K6, both from A.  All meet in E, the end of K2. */
#include "mechanism.h"

#define BODIES 7

typedef struct part {
  int parent; /* index of another part, or TABI_WORLD */
  double x, y;
  double mass;
  double com_x, com_y;
  double moment;
  double end_x, end_y; /* E */
  double start;
} part;

/* by the names of their angles: beta, theta, gamma, phi, delta, Omega, epsilon */
static const part parts[BODIES] = {
    {TABI_WORLD, 0,        0,        0.04325, 0.00092,  0,        2.194e-6, 0,      0,      -0.0617138900142764},
    {0,          0.007,    0,        0.00365, -0.0115,  0,        4.410e-7, -0.028, 0,      0                  },
    {TABI_WORLD, -0.03635, 0.03273,  0.02373, 0.01043,  -0.01874, 5.255e-6, 0,      -0.035,
     0.455279819163070                                                                                         },
    {4,          0.04,     0,        0.00706, 0,        -0.00579, 5.667e-7, 0,      -0.020, 0.222668390165886  },
    {TABI_WORLD, -0.06934, -0.00227, 0.07050, 0.02308,  0.00916,  1.169e-5, 0,      0,      0.487364979543843  },
    {6,          0,        -0.04,    0.00706, 0.00579,  0,        5.667e-7, 0.020,  0,      -0.222668390165886 },
    {TABI_WORLD, -0.06934, -0.00227, 0.05498, -0.00449, -0.01228, 1.912e-5, 0,      0,
     1.230547444549821                                                                                         },
};

/* at 0.03 s */
static const double end_angle[BODIES] = {15.8107711951537, -15.7563710584118, 0.0408222401196,
                                         -0.5347301163421, 0.5244099658800,   0.5347301163421,
                                         1.0480807410419};

typedef struct squeezer {
  scene s;
  int32_t link[BODIES];
} squeezer;

/* where K2 ends and others are held against it, and the spring */
static void close_loops(squeezer *m) {
  static const int met[3] = {2, 3, 5};
  for (int i = 0; i < 3; ++i) {
    const part *p = &parts[met[i]];
    mechanism_pin(&m->s, m->link[1], v3_make(parts[1].end_x, 0, 0), m->link[met[i]],
                  v3_make(p->end_x, p->end_y, 0));
  }
  tabi_connection_def spring =
      mechanism_join(TABI_CONNECTION_SPRING, TABI_WORLD, v3_make(0.014, 0.072, 0), m->link[2],
                     v3_make(0.02, -0.018, 0));
  spring.stiffness = 4530;
  spring.length = 0.07785;
  tabi_builder_add_connection(m->s.builder, &spring);
  mechanism_gravity(&m->s, v3_zero());
}

static int32_t parent_of(const squeezer *m, int k) {
  return parts[k].parent == TABI_WORLD ? TABI_WORLD : m->link[parts[k].parent];
}

static squeezer open_squeezer(tabi_integrator integrator, double timestep) {
  squeezer m = {.s = scene_begin()};
  /* parents before children */
  static const int order[BODIES] = {0, 1, 2, 4, 3, 6, 5};
  for (int i = 0; i < BODIES; ++i) {
    int k = order[i];
    const part *p = &parts[k];
    m.link[k] = mechanism_bar(&m.s, parent_of(&m, k), v3_make(p->x, p->y, 0), p->mass,
                              v3_make(p->com_x, p->com_y, 0), p->moment);
  }
  close_loops(&m);
  mechanism_open(&m.s, integrator, timestep);
  for (int k = 0; k < BODIES; ++k)
    mechanism_set(&m.s, m.link[k], parts[k].start, 0);
  return m;
}

/* the same of bodies that are free in the plane, with all their hinges as connections */
static squeezer open_loose_squeezer(tabi_integrator integrator, double timestep) {
  squeezer tree = open_squeezer(integrator, timestep);
  squeezer m = {.s = scene_begin()};
  for (int k = 0; k < BODIES; ++k) {
    tabi_joint_def joint = scene_hinge(TABI_JOINT_PLANAR, TABI_WORLD, v3_zero(), v3_make(0, 0, 1));
    const part *p = &parts[k];
    m.link[k] = scene_link(&m.s, p->mass, v3_make(p->com_x, p->com_y, 0),
                           v3_make(p->moment, p->moment, p->moment), joint);
  }
  close_loops(&m);
  for (int k = 0; k < BODIES; ++k)
    mechanism_pin(&m.s, parent_of(&m, k), v3_make(parts[k].x, parts[k].y, 0), m.link[k], v3_zero());
  mechanism_open(&m.s, integrator, timestep);
  for (int k = 0; k < BODIES; ++k) {
    double q[4];
    double turn[4];
    tabi_dynamics_link_pose(tabi_world_dynamics(tree.s.world), tree.link[k], q, turn);
    q[2] = 2 * atan2(turn[3], turn[0]);
    scene_set(&m.s, m.link[k], q, NULL);
  }
  scene_close(&tree.s);
  return m;
}

/* the angle between a part and what it turns on */
static double angle_of(const squeezer *m, int k) {
  bool loose = tabi_model_nv(m->s.model) > BODIES;
  const double *q = scene_q(&m->s, m->link[k]);
  if (!loose) return q[0];
  return parts[k].parent == TABI_WORLD ? q[2] : q[2] - scene_q(&m->s, parent_of(m, k))[2];
}

/* the motor turns K1 */
static void drive(squeezer *m, int64_t steps) {
  double tau[3 * BODIES] = {0};
  tabi_range motor = tabi_model_joint_v(m->s.model, scene_joint(&m->s, m->link[0]));
  tau[motor.first + motor.count - 1] = 0.033;
  for (int64_t i = 0; i < steps; ++i) {
    if (tabi_world_step(m->s.world, tau) == TABI_OK) continue;
    fail_msg("%s", tabi_world_error(m->s.world)->message);
  }
}

static double worst_gap(const squeezer *m) {
  double worst = 0;
  for (int32_t i = 0; i < tabi_model_nconnection(m->s.model); ++i) {
    if (tabi_model_connection(m->s.model, i).type == TABI_CONNECTION_SPRING) continue;
    worst = fmax(worst, tabi_world_connection(m->s.world, i).gap);
  }
  return worst;
}

/* the first accelerations and the forces that the first loop needs for them */
static void starts(void **state) {
  (void)state;
  const double h = 1e-6;
  squeezer m = open_squeezer(TABI_SEMI_IMPLICIT, h);
  drive(&m, 1);
  double beta = scene_v(&m.s, m.link[0])[0] / h;
  double theta = scene_v(&m.s, m.link[1])[0] / h;
  tabi_connection_state loop = tabi_world_connection(m.s.world, 0);
  print_message("Andrews: beta'' %.10g, theta'' %.10g, forces %.10g and %.10g N\n", beta, theta,
                loop.force[0], loop.force[1]);
  assert_near(beta, 14222.4439199541, 1e-2);
  assert_near(theta, -10666.8329399656, 1e-2);
  assert_near(fabs(loop.force[0]), 98.5668703962, 1e-3);
  assert_near(fabs(loop.force[1]), 6.1226883443, 1e-3);
  scene_close(&m.s);
}

/* the worst angle at 0.03 s */
static double squeeze(bool loose, tabi_integrator integrator, double h) {
  squeezer m = loose ? open_loose_squeezer(integrator, h) : open_squeezer(integrator, h);
  double gap = 0;
  const int looks = 150;
  for (int i = 0; i < looks; ++i) {
    drive(&m, lround(0.03 / h / looks));
    gap = fmax(gap, worst_gap(&m));
  }
  double off = 0;
  for (int k = 0; k < BODIES; ++k)
    off = fmax(off, fabs(angle_of(&m, k) - end_angle[k]));
  print_message("Andrews, %s bodies, %s, %g us: angles off by %.3g rad at most, gap %.2g m\n",
                loose ? "loose" : "jointed", tabi_integrator_name(integrator), 1e6 * h, off, gap);
  scene_close(&m.s);
  assert_true(gap < 1e-8);
  return off;
}

static void squeezes(bool loose, tabi_integrator integrator, double h, double bound,
                     double least_order) {
  double coarse = squeeze(loose, integrator, 2 * h);
  double fine = squeeze(loose, integrator, h);
  double order = log2(coarse / fine);
  print_message("Andrews: order %.3f\n", order);
  assert_true(fine < bound);
  assert_true(order >= least_order);
}

/* Velocities stand half a step beside positions, and forces that depend on them come from the
 * start of the step: first order. */
static void jointed_by_default(void **state) {
  (void)state;
  squeezes(false, TABI_SEMI_IMPLICIT, 1e-6, 1e-3, 0.9);
}

static void loose_by_default(void **state) {
  (void)state;
  squeezes(true, TABI_SEMI_IMPLICIT, 4e-6, 3e-3, 0.9);
}

static void loose_by_rk4(void **state) {
  (void)state;
  squeezes(true, TABI_RK4, 2e-5, 1e-6, 2.5);
}

static void jointed_by_rk4(void **state) {
  (void)state;
  squeezes(false, TABI_RK4, 1e-5, 1e-6, 2.5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(starts),           cmocka_unit_test(jointed_by_default),
      cmocka_unit_test(loose_by_default), cmocka_unit_test(jointed_by_rk4),
      cmocka_unit_test(loose_by_rk4),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
