/* property.c - see property.h. */
#include "property/property.h"

#include "support/rng.h"

#include <stdlib.h>
#include <string.h>

double *subject_room(subject *s, size_t count) {
  assert_true(s->nblock < sizeof s->blocks / sizeof *s->blocks);
  double *block = calloc(count + 1, sizeof *block);
  assert_non_null(block);
  s->blocks[s->nblock++] = block;
  return block;
}

void subject_open(subject *s, const random_plan *plan, const int32_t *order) {
  s->nblock = 0;
  s->model = random_plan_build(plan, order);
  s->nq = (size_t)tabi_model_nq(s->model);
  s->nv = (size_t)tabi_model_nv(s->model);
  s->q = subject_room(s, s->nq);
  s->v = subject_room(s, s->nv);
  s->tau = subject_room(s, s->nv);
  random_plan_state(plan, s->model, s->q, s->v, s->tau);
  tabi_error err;
  s->dynamics = tabi_dynamics_create(s->model, &err);
  assert_non_null(s->dynamics);
  tabi_dynamics_set_state(s->dynamics, s->q, s->v);
}

void subject_close(subject *s) {
  tabi_dynamics_destroy(s->dynamics);
  tabi_model_destroy(s->model);
  while (s->nblock > 0)
    free(s->blocks[--s->nblock]);
}

void subject_point(const subject *s, double world[3]) {
  double pos[3], quat[4], R[9];
  tabi_dynamics_link_pose(s->dynamics, s->link, pos, quat);
  property_rotation(quat, R);
  for (size_t i = 0; i < 3; ++i)
    world[i] =
        pos[i] + R[3 * i] * s->point[0] + R[3 * i + 1] * s->point[1] + R[3 * i + 2] * s->point[2];
}

static void run_one(uint64_t seed, random_kind kind, void (*check)(subject *)) {
  static random_plan plan;
  subject s = {.seed = seed, .plan = &plan};
  random_plan_make(&plan, seed, kind);
  subject_open(&s, &plan, NULL);
  rng r = rng_make(~seed);
  s.link = rng_below(&r, plan.nlink);
  rng_fill(&r, 0.5, s.point, 3);
  check(&s);
  subject_close(&s);
}

void property_run(random_kind kind, void (*check)(subject *)) {
  const char *chosen = getenv("TABI_SEED");
  if (chosen) {
    run_one(strtoull(chosen, NULL, 0), kind, check);
    return;
  }
  for (uint64_t seed = 1; seed <= PROPERTY_MODELS; ++seed)
    run_one(seed, kind, check);
}

void property_rotation(const double quat[4], double R[9]) {
  double w = quat[0], x = quat[1], y = quat[2], z = quat[3];
  double rows[9] = {
      w * w + x * x - y * y - z * z, 2 * (x * y - w * z),           2 * (x * z + w * y),
      2 * (x * y + w * z),           w * w - x * x + y * y - z * z, 2 * (y * z - w * x),
      2 * (x * z - w * y),           2 * (y * z + w * x),           w * w - x * x - y * y + z * z};
  memcpy(R, rows, sizeof rows);
}

void property_expect(const subject *s, const char *what, double error, double tolerance) {
  if (error <= tolerance) return;
  print_error("%s: error %.3g, allowed %.3g (%d links, nv %zu); rerun with TABI_SEED=%llu\n", what,
              error, tolerance, (int)s->plan->nlink, s->nv, (unsigned long long)s->seed);
  fail();
}

double property_largest(const double *a, size_t n) {
  double largest = 0.0;
  for (size_t i = 0; i < n; ++i)
    largest = fmax(largest, fabs(a[i]));
  return largest;
}

double property_distance(const double *a, const double *b, size_t n, double floor) {
  double scale = fmax(floor, fmax(property_largest(a, n), property_largest(b, n)));
  double worst = 0.0;
  for (size_t i = 0; i < n; ++i) {
    double difference = fabs(a[i] - b[i]);
    /* fmax would lose a NaN */
    if (!(difference <= worst)) worst = difference;
  }
  return scale > 0.0 ? worst / scale : worst;
}

/* f(-2h) - 8 f(-h) + 8 f(h) - f(2h) = 12 h f' up to h^5 */
void property_rate(subject *s, const double *v, property_fn *f, double *to, size_t count) {
  static const double weight[4] = {1.0, -8.0, 8.0, -1.0}, step[4] = {-2.0, -1.0, 1.0, 2.0};
  /* the tip of a chain turns with the sum of all rates, typically with their root of squares */
  double square = 0.0;
  for (size_t i = 0; i < s->nv; ++i)
    square += v[i] * v[i];
  const double h = 2e-3 / (1.0 + sqrt(square));
  double *q = subject_room(s, s->nq), *value = subject_room(s, count);
  memset(to, 0, count * sizeof *to);
  for (int k = 0; k < 4; ++k) {
    tabi_model_integrate(s->model, s->q, v, step[k] * h, q);
    tabi_dynamics_set_state(s->dynamics, q, v);
    f(s, value);
    for (size_t i = 0; i < count; ++i)
      to[i] += weight[k] * value[i] / (12.0 * h);
  }
  tabi_dynamics_set_state(s->dynamics, s->q, s->v);
  free(s->blocks[--s->nblock]);
  free(s->blocks[--s->nblock]);
}
