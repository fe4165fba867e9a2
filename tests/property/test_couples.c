/* test_couples.c - rolling and torsional friction over random scenes: heaps of balls, boxes and
 * carts on wheels, masses 1e4 apart, with and without rebounds.
 *
 * In every step of every method that obeys it couples stay within rho times the normal impulse of
 * their contact, and no step's contact_work is above 1e-9 of its energy; where the step converged
 * couples oppose the turning.  From the same state cone and exact find the same velocity, where the
 * law determines it: in scenes of balls and of carts made of balls, since faces share their load in
 * many ways, each of which has its own friction.  Under penalty there is no sliding friction, whose
 * springs have tests of their own. */
#include "math/vec.h"
#include "support/near.h"
#include "support/rng.h"
#include "support/scene_build.h"

enum { SCENES = 60, STEPS = 600, MOST_BODIES = 5 };

#define SHARE 1e-9 /* of the energy, that impulses may add in a step */
/* m/s: a residual e of a couple whose impulse has the effect w on its own velocity allows a
 * dissipation of e u / w, which counts as w at most; at worst sqrt(e u), with 1e-9 and 10 m/s */
#define DISSIPATION 1e-4

/* lengths of the one material of a scene */
typedef struct lengths {
  double rolling, torsional;
} lengths;

static double pick(rng *r, const double *from, int32_t n) { return from[rng_below(r, n)]; }

static v3 random_vector(rng *r, double size) {
  double x[3];
  rng_fill(r, size, x, 3);
  return v3_load(x);
}

static int32_t add_material(scene *s, rng *r, bool slides, lengths *rho) {
  static const double frictions[] = {0, 0.3, 1};
  static const double rebounds[] = {0, 0, 0.8};
  static const double sizes[] = {1e-4, 3e-3, 3e-2, 0};
  tabi_material_def def = tabi_material_def_default();
  def.friction = pick(r, frictions, slides ? 3 : 1);
  def.restitution = pick(r, rebounds, 3);
  def.rolling_friction = rho->rolling = pick(r, sizes, 4);
  def.torsional_friction = rho->torsional = pick(r, sizes, rho->rolling > 0 ? 4 : 3);
  return tabi_builder_add_material(s->builder, &def);
}

/* two balls as wheels on a hinge each, before and behind a body */
static void add_wheels(scene *s, int32_t body, int32_t stuff) {
  for (int i = 0; i < 2; ++i) {
    tabi_joint_def hinge = scene_hinge(TABI_JOINT_REVOLUTE, body,
                                       v3_make(i == 0 ? -0.3 : 0.3, 0, 0), v3_make(0, 1, 0));
    int32_t wheel = scene_link(s, 0.5, v3_zero(), v3_make(0.002, 0.002, 0.002), hinge);
    scene_shape(s, TABI_SHAPE_SPHERE, wheel, v3_make(0.1, 0, 0), stuff);
    tabi_builder_add_exclusion(s->builder, body, wheel);
  }
}

static int32_t add_body(scene *s, rng *r, double mass, v3 at, int32_t stuff, bool round) {
  double radius = rng_between(r, 0.05, 0.2);
  v3 size = v3_make(rng_between(r, 0.05, 0.3), radius, 0.1);
  bool ball = rng_below(r, 2) == 0 || round;
  int32_t body =
      ball ? scene_ball(s, mass, radius, at, stuff) : scene_box(s, mass, size, at, stuff);
  if (rng_below(r, 3) == 0) add_wheels(s, body, stuff);
  return body;
}

/* the same seed, the same scene */
static scene open_scene(uint64_t seed, const tabi_world_def *how, bool round, lengths *rho) {
  rng r = rng_make(seed);
  scene s = scene_begin();
  int32_t stuff = add_material(&s, &r, how->contact != TABI_CONTACT_PENALTY, rho);
  int32_t link[MOST_BODIES];
  int32_t n = 1 + rng_below(&r, MOST_BODIES);
  scene_plane(&s, 0, stuff);
  for (int32_t i = 0; i < n; ++i) {
    double mass = seed % 3 == 0 ? pow(10, rng_between(&r, -2, 2)) : rng_between(&r, 0.5, 2);
    double x = rng_between(&r, -0.2, 0.2);
    double y = rng_between(&r, -0.2, 0.2);
    link[i] = add_body(&s, &r, mass, v3_make(x, y, 0.22 + 0.4 * i), stuff, round);
  }
  tabi_world_def def = scene_def(&s);
  def.contact = how->contact;
  def.tolerance = how->tolerance;
  scene_open(&s, &def);
  for (int32_t i = 0; i < n; ++i) {
    v3 lin = random_vector(&r, 1);
    scene_set_velocity(&s, link[i], lin, random_vector(&r, 5));
  }
  return s;
}

typedef struct count {
  int64_t couples, converged, steps;
  double beyond;      /* couple over its bound, as a share of it, less 1 */
  double dissipation; /* m/s, of steps that converged */
  double gain;        /* share of the energy */
  double apart;       /* of two methods, as a share of the velocity */
} count;

static double beyond(double couple, double rho, double normal) {
  return couple > 0 ? (couple - rho * normal) / (1e-9 + rho * normal) : 0;
}

static void check_couples(const scene *s, lengths rho, count *sum) {
  int32_t n;
  const tabi_contact *c = tabi_world_contacts(s->world, &n);
  for (int32_t i = 0; i < n; ++i) {
    v3 normal = v3_load(c[i].normal);
    v3 couple = v3_load(c[i].couple);
    double push = v3_dot(v3_load(c[i].impulse), normal);
    double about = v3_dot(couple, normal);
    double across = v3_norm(v3_axpy(couple, -about, normal));
    sum->couples += about != 0 || across != 0;
    /* what is left of the other part by rounding */
    double rounding = 1e-14 * v3_norm(couple);
    sum->beyond = fmax(sum->beyond, beyond(fabs(about) - rounding, rho.torsional, push));
    sum->beyond = fmax(sum->beyond, beyond(across - rounding, rho.rolling, push));
  }
}

static void check_step(scene *s, lengths rho, double energy, count *sum) {
  tabi_certificate c = tabi_world_certificate(s->world);
  check_couples(s, rho, sum);
  ++sum->steps;
  sum->converged += c.converged;
  sum->gain = fmax(sum->gain, c.contact_work / energy);
  if (c.converged) sum->dissipation = fmax(sum->dissipation, c.dissipation);
}

static count run_all(tabi_contact_kind contact) {
  count sum = {0};
  const tabi_world_def how = {.contact = contact, .tolerance = -1};
  for (uint64_t seed = 0; seed < SCENES; ++seed) {
    lengths rho;
    scene s = open_scene(seed, &how, false, &rho);
    for (int k = 0; k < STEPS; ++k) {
      double energy = scene_energy(&s);
      scene_run(&s, 1);
      check_step(&s, rho, energy, &sum);
      if (sum.gain > SHARE || sum.beyond > 1e-6)
        fail_msg("%s, seed %d, step %d: gain %g, beyond %g", tabi_contact_name(contact), (int)seed,
                 k, sum.gain, sum.beyond);
    }
    scene_close(&s);
  }
  print_message("%s: %d couples, %d of %d steps converged, dissipation %.2g m/s, gain %.2g\n",
                tabi_contact_name(contact), (int)sum.couples, (int)sum.converged, (int)sum.steps,
                sum.dissipation, sum.gain);
  assert_true(sum.couples > 10000);
  return sum;
}

static void cone(void **state) {
  (void)state;
  count sum = run_all(TABI_CONTACT_CONE);
  assert_true(100 * sum.converged >= 99 * sum.steps);
  assert_true(sum.dissipation < DISSIPATION);
}

static void exact(void **state) {
  (void)state;
  count sum = run_all(TABI_CONTACT_EXACT);
  assert_true(1000 * sum.converged >= 999 * sum.steps);
  assert_true(sum.dissipation < DISSIPATION);
}

static void penalty(void **state) {
  (void)state;
  count sum = run_all(TABI_CONTACT_PENALTY);
  assert_true(1000 * sum.converged >= 999 * sum.steps);
}

/* cone makes each step from where exact stands */
static void cone_agrees_with_exact(void **state) {
  (void)state;
  const tabi_world_def how[2] = {
      {.contact = TABI_CONTACT_EXACT, .tolerance = -1   },
      {.contact = TABI_CONTACT_CONE,  .tolerance = 1e-11}
  };
  int64_t compared = 0;
  int64_t apart = 0;
  double most = 0;
  for (uint64_t seed = 0; seed < SCENES; ++seed) {
    lengths rho;
    scene a = open_scene(seed, &how[0], true, &rho);
    scene b = open_scene(seed, &how[1], true, &rho);
    size_t nv = (size_t)tabi_model_nv(a.model);
    for (int k = 0; k < STEPS; ++k) {
      assert_int_equal(tabi_world_continue(b.world, a.world, NULL), TABI_OK);
      scene_run(&a, 1);
      scene_run(&b, 1);
      if (!tabi_world_certificate(a.world).converged || !tabi_world_certificate(b.world).converged)
        continue;
      double d = 0;
      for (size_t i = 0; i < nv; ++i)
        d = fmax(d, fabs(tabi_world_v(a.world)[i] - tabi_world_v(b.world)[i]));
      ++compared;
      apart += d > 1e-5;
      if (d > 1e-5) print_message("seed %d step %d: %g\n", (int)seed, k, d);
      most = fmax(most, d);
    }
    scene_close(&a);
    scene_close(&b);
  }
  print_message("%d steps, %d apart, at most %g\n", (int)compared, (int)apart, most);
  assert_true(100 * compared >= 99 * (int64_t)SCENES * STEPS);
  assert_int_equal(apart, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cone),
      cmocka_unit_test(exact),
      cmocka_unit_test(penalty),
      cmocka_unit_test(cone_agrees_with_exact),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
