/* test_impulse_paper.c - the published loop against what can be worked out by hand: an edge that
 * sticks, slips or keeps its slip, and joints that the paper does not know of. */
#include "support/near.h"
#include "support/scene_build.h"

#define MASS    2.0
#define STATIC  0.6
#define KINETIC 0.4

/* An edge impact in the plane of x and z. */
typedef struct impact {
  double tilt;     /* rad, of the box */
  double rebound;  /* e */
  double slip;     /* m/s, along x before the impact */
  double speed;    /* m/s, downward before the impact */
  double after[3]; /* m/s along x and z, rad/s about y */
} impact;

static const v3 plank = {0.4, 0.2, 0.1};

static v3 edge_of(double tilt) {
  return v3_make(0.5 * (plank.x * cos(tilt) - plank.z * sin(tilt)), 0,
                 -0.5 * (plank.x * sin(tilt) + plank.z * cos(tilt)));
}

/* Impulses t and n at the edge that keep its slip and let it rebound; t is then cut to kinetic
 * friction where the edge slid or static friction does not suffice, and n stays. */
static void work_out(impact *i) {
  v3 r = edge_of(i->tilt);
  double inertia = MASS * (plank.x * plank.x + plank.z * plank.z) / 12;
  double tt = 1 / MASS + r.z * r.z / inertia;
  double nn = 1 / MASS + r.x * r.x / inertia;
  double tn = -r.x * r.z / inertia;
  double n = (1 + i->rebound) * i->speed / (nn - tn * tn / tt);
  double t = -tn / tt * n;
  if (i->slip != 0) {
    t = -KINETIC * n * copysign(1, i->slip);
  } else if (fabs(t) > STATIC * n) {
    t = KINETIC * n * copysign(1, t);
  }
  i->after[0] = i->slip + t / MASS;
  i->after[1] = -i->speed + n / MASS;
  i->after[2] = (r.z * t - r.x * n) / inertia;
}

static int32_t add_material(scene *s, double rebound) {
  tabi_material_def def = tabi_material_def_default();
  def.name = "surface";
  def.friction = STATIC;
  def.kinetic = KINETIC;
  def.restitution = rebound;
  return tabi_builder_add_material(s->builder, &def);
}

static double simulate(const impact *i) {
  scene s = scene_begin();
  int32_t stuff = add_material(&s, i->rebound);
  scene_plane(&s, 0, stuff);
  v3 centre = v3_make(0, 0, -edge_of(i->tilt).z);
  int32_t box = scene_box(&s, MASS, plank, centre, stuff);
  tabi_world_def def = scene_def(&s);
  def.contact = TABI_CONTACT_IMPULSE_PAPER;
  def.gravity[2] = 0;
  scene_open(&s, &def);
  scene_turn(&s, box, q_exp(v3_make(0, i->tilt, 0)));
  scene_set_velocity(&s, box, v3_make(i->slip, 0, -i->speed), v3_zero());
  scene_run(&s, 1);
  const double *v = scene_v(&s, box);
  double off = fabs(v[0] - i->after[0]) + fabs(v[2] - i->after[1]) + fabs(v[4] - i->after[2]);
  off += fabs(v[1]) + fabs(v[3]) + fabs(v[5]);
  scene_close(&s);
  return off;
}

/* Tilts at which the edge sticks and at which it breaks away, and slips both ways. */
static void edge_follows_the_published_rule(void **state) {
  (void)state;
  int stuck = 0;
  int cut = 0;
  for (int k = 0; k < 60; ++k) {
    impact i = {.tilt = 0.05 + 0.06 * (k % 20), .rebound = 0.05 * (k % 21), .speed = 1.5};
    i.slip = k / 20 == 0 ? 0 : k / 20 == 1 ? 0.7 : -0.7;
    work_out(&i);
    v3 r = edge_of(i.tilt);
    bool sticks = i.slip == 0 && fabs(i.after[0] + i.after[2] * r.z) < 1e-12;
    stuck += sticks;
    cut += !sticks;
    assert_near(simulate(&i), 0, 1e-9);
  }
  print_message("edges: %d stick, %d slide\n", stuck, cut);
  assert_true(stuck > 5 && cut > 45);
}

/* a chain of three links, with dry friction and a limit in its joints */
static scene open_chain(tabi_contact_kind contact) {
  scene s = scene_begin();
  int32_t parent = TABI_WORLD;
  for (int i = 0; i < 3; ++i) {
    tabi_joint_def hinge = scene_hinge(TABI_JOINT_REVOLUTE, parent,
                                       v3_make(0, 0, i == 0 ? 2 : -0.3), v3_make(0, 1, 0));
    hinge.friction = 0.1;
    hinge.lower = i == 2 ? -0.3 : -3;
    hinge.upper = i == 2 ? 0.3 : 3;
    hinge.initial_q[0] = i == 0 ? 1.2 : 0.1;
    parent = scene_link(&s, 1, v3_make(0, 0, -0.15), v3_make(0.01, 0.01, 0.001), hinge);
  }
  tabi_world_def def = scene_def(&s);
  def.contact = contact;
  scene_open(&s, &def);
  return s;
}

/* Without contact there is nothing of the paper in a step, and all methods agree on its joints. */
static void joints_keep_friction_and_limits(void **state) {
  (void)state;
  scene a = open_chain(TABI_CONTACT_EXACT);
  scene b = open_chain(TABI_CONTACT_IMPULSE_PAPER);
  double worst = 0;
  double gain = 0;
  double last = scene_energy(&b);
  for (int k = 0; k < 2000; ++k) {
    scene_run(&a, 1);
    scene_run(&b, 1);
    gain = fmax(gain, tabi_world_certificate(b.world).contact_work);
    for (int i = 0; i < 3; ++i)
      worst = fmax(worst, fabs(tabi_world_q(a.world)[i] - tabi_world_q(b.world)[i]));
  }
  print_message("chain: %.2g rad apart, %.2g J gained in a step, %.3f J of %.3f J left\n", worst,
                gain, scene_energy(&b), last);
  assert_true(worst < 1e-6);
  assert_true(gain < 1e-9);
  assert_true(scene_energy(&b) < last - 1);
  scene_close(&a);
  scene_close(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(edge_follows_the_published_rule),
      cmocka_unit_test(joints_keep_friction_and_limits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
