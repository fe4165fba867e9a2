/* test_break.c - a billiard break, against a program that goes from one impact to the next.
 *
 * A triangle of balls at rest, a tenth of a millimetre apart at random, and one that hits it; no
 * gravity, no friction.  A step of 1 ms sees many impacts.  At once, what is hit in the step cannot
 * rebound from what it hits next, and energy is lost; one after another, nearly all are seen. */
#include "support/near.h"
#include "support/rng.h"
#include "support/scene_build.h"

#define BALLS  16
#define RADIUS 0.028
#define MASS   0.17
#define SPEED  6.0
#define E      0.95

typedef struct table {
  v3 at[BALLS], v[BALLS];
} table;

static table make_table(uint64_t seed, double apart) {
  rng r = rng_make(seed);
  table t = {.v[0] = v3_make(SPEED, 0, 0)};
  int n = 1;
  t.at[0] = v3_make(-0.2, rng_between(&r, -0.01, 0.01), 0);
  for (int row = 0; row < 5; ++row) {
    for (int k = 0; k <= row; ++k, ++n) {
      double pitch = 2 * RADIUS + 2 * apart;
      t.at[n] = v3_make(sqrt(0.75) * pitch * row + rng_between(&r, -apart, apart) / 2,
                        pitch * (k - 0.5 * row) + rng_between(&r, -apart, apart) / 2, 0);
    }
  }
  return t;
}

static double energy_of(const v3 *v) {
  double sum = 0;
  for (int i = 0; i < BALLS; ++i)
    sum += 0.5 * MASS * v3_dot(v[i], v[i]);
  return sum;
}

/* when two balls meet, or HUGE_VAL */
static double meeting(const table *t, int i, int j) {
  v3 d = v3_sub(t->at[j], t->at[i]);
  v3 u = v3_sub(t->v[j], t->v[i]);
  double b = v3_dot(d, u);
  double c = v3_dot(d, d) - 4 * RADIUS * RADIUS;
  double root = b * b - v3_dot(u, u) * c;
  if (b >= 0 || root < 0) return HUGE_VAL;
  return fmax(c / (-b + sqrt(root)), 0);
}

static void bounce(table *t, int i, int j) {
  v3 n = v3_sub(t->at[j], t->at[i]);
  n = v3_scale(1 / v3_norm(n), n);
  double push = 0.5 * (1 + E) * v3_dot(n, v3_sub(t->v[j], t->v[i]));
  t->v[i] = v3_axpy(t->v[i], push, n);
  t->v[j] = v3_axpy(t->v[j], -push, n);
}

/* from impact to impact; how many there were */
static int run_events(table *t, double duration) {
  for (int count = 0;; ++count) {
    double first = duration;
    int a = -1;
    int b = -1;
    for (int i = 0; i < BALLS; ++i) {
      for (int j = 0; j < i; ++j) {
        double when = meeting(t, i, j);
        if (when >= first) continue;
        first = when;
        a = i;
        b = j;
      }
    }
    for (int i = 0; i < BALLS; ++i)
      t->at[i] = v3_axpy(t->at[i], first, t->v[i]);
    duration -= first;
    if (a < 0) return count;
    bounce(t, a, b);
  }
}

/* the energy after the break */
static double run_steps(const table *t, tabi_contact_kind contact, tabi_impacts impacts,
                        double duration, v3 *momentum) {
  scene s = scene_begin();
  int32_t phenol = scene_material(&s, 0, E);
  int32_t ball[BALLS];
  for (int i = 0; i < BALLS; ++i)
    ball[i] = scene_ball(&s, MASS, RADIUS, t->at[i], phenol);
  tabi_world_def def = scene_def(&s);
  def.gravity[2] = 0;
  def.contact = contact;
  def.impacts = impacts;
  def.timestep = 1e-3;
  scene_open(&s, &def);
  scene_set_velocity(&s, ball[0], t->v[0], v3_zero());
  double before = scene_energy(&s);
  for (int64_t k = 0; k < llround(duration / def.timestep); ++k) {
    scene_run(&s, 1);
    double now = scene_energy(&s);
    if (impacts == TABI_IMPACTS_SEQUENTIAL) assert_true(now <= before * (1 + 1e-12));
    before = now;
  }
  v3 v[BALLS];
  *momentum = v3_zero();
  for (int i = 0; i < BALLS; ++i) {
    v[i] = v3_load(scene_v(&s, ball[i]));
    *momentum = v3_axpy(*momentum, MASS, v[i]);
  }
  scene_close(&s);
  return energy_of(v);
}

static const tabi_contact_kind kinds[] = {TABI_CONTACT_CONE, TABI_CONTACT_EXACT, TABI_CONTACT_LCP,
                                          TABI_CONTACT_IMPULSE};

/* one break: the energy of the exact program that is kept */
static double share_kept(uint64_t seed, double apart, tabi_contact_kind kind,
                         tabi_impacts impacts) {
  table t = make_table(seed, apart);
  table exact = t;
  v3 momentum;
  assert_true(run_events(&exact, 0.1) > 10);
  double energy = run_steps(&t, kind, impacts, 0.1, &momentum);
  assert_near(momentum.x, MASS * SPEED, 1e-8);
  return energy / energy_of(exact.v);
}

static void energy_is_kept(void **state) {
  (void)state;
  enum { BREAKS = 10 };
  const double apart[] = {1e-7, 1e-5, 1e-4, 1e-3};
  for (size_t k = 0; k < 4 * sizeof kinds / sizeof kinds[0]; ++k) {
    double mean = 0;
    double low = HUGE_VAL;
    double high = 0;
    for (uint64_t seed = 1; seed <= BREAKS; ++seed) {
      double kept = share_kept(seed, apart[k % 4], kinds[k / 4], TABI_IMPACTS_SEQUENTIAL);
      mean += share_kept(seed, apart[k % 4], kinds[k / 4], TABI_IMPACTS_SIMULTANEOUS) / BREAKS;
      low = fmin(low, kept);
      high = fmax(high, kept);
    }
    print_message("%s, %g mm apart: %.4f to %.4f of the exact energy in sequence, %.3f at once\n",
                  tabi_contact_name(kinds[k / 4]), 1e3 * apart[k % 4], low, high, mean);
    assert_true(low > 0.98 && high < 1.02);
  }
}

/* balls and boxes fall on each other and on the floor, with friction */
static void heaps_gain_nothing(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; ++k) {
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      enum { BODIES = 10 };
      rng r = rng_make(seed);
      scene s = scene_begin();
      int32_t stuff = scene_material(&s, 0.5, rng_between(&r, 0.3, 1));
      scene_plane(&s, 0, stuff);
      for (int i = 0; i < BODIES; ++i) {
        v3 at = v3_make(rng_between(&r, -0.1, 0.1), rng_between(&r, -0.1, 0.1), 0.15 + 0.12 * i);
        v3 size = v3_make(0.1, rng_between(&r, 0.05, 0.1), rng_between(&r, 0.05, 0.1));
        (void)(i % 2 == 0 ? scene_ball(&s, 1, 0.05, at, stuff) : scene_box(&s, 1, size, at, stuff));
      }
      tabi_world_def def = scene_def(&s);
      def.contact = kinds[k];
      def.impacts = TABI_IMPACTS_SEQUENTIAL;
      def.correction = 0; /* what it adds is not the impacts' */
      scene_open(&s, &def);
      double start = scene_energy(&s);
      double lowest = start;
      double gain = 0;
      double work = -INFINITY;
      for (int i = 0; i < 1500; ++i) {
        scene_run(&s, 1);
        double now = scene_energy(&s);
        gain = fmax(gain, now - lowest);
        lowest = fmin(lowest, now);
        work = fmax(work, tabi_world_certificate(s.world).contact_work);
      }
      print_message("%s, seed %d: energy %.3f to %.3f J, above its lowest by %.2g J, impulses at "
                    "most %.2g J in a step\n",
                    tabi_contact_name(kinds[k]), (int)seed, start, lowest, gain, work);
      assert_true(work < 1e-9 * start);
      /* beside impulses, bodies that turn on others gain by the first order of the integrator */
      assert_true(gain < 1e-6 * start);
      scene_close(&s);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(energy_is_kept),
                                     cmocka_unit_test(heaps_gain_nothing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
