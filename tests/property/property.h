/* property.h - runs a check over seeded random models.
 *
 * A failure names the seed; TABI_SEED=<seed> then reruns that model alone. */
#ifndef TEST_PROPERTY_H
#define TEST_PROPERTY_H

#include "support/near.h"
#include "support/random_model.h"

#include "tabi/tabi.h"

#define PROPERTY_MODELS 1000

/* A random model at a random state, and room to work in. */
typedef struct subject {
  uint64_t seed;
  random_plan *plan;
  tabi_model *model;
  tabi_dynamics *dynamics; /* at q, v */
  size_t nq, nv;
  double *q, *v, *tau;
  double *blocks[32]; /* of subject_room */
  size_t nblock;
  int32_t link; /* one link and a point on it (link frame), drawn at random */
  double point[3];
} subject;

/* Checks PROPERTY_MODELS models, each at a random state. */
void property_run(random_kind kind, void (*check)(subject *));

/* Zeroed numbers that live until the check is over. */
double *subject_room(subject *s, size_t count);

/* Where the subject's point is in the world, at the state the dynamics object has now. */
void subject_point(const subject *s, double world[3]);

/* Fails, naming the seed, unless error <= tolerance. */
void property_expect(const subject *s, const char *what, double error, double tolerance);

/* A model of the same or another plan, to compare with; freed by the caller. */
void subject_open(subject *s, const random_plan *plan, const int32_t *order);
void subject_close(subject *s);

/* The largest |a[i] - b[i]| over the largest entry of both, or over floor if that is larger. */
double property_distance(const double *a, const double *b, size_t n, double floor);
double property_largest(const double *a, size_t n);

/* Rows of the rotation that a unit quaternion stands for. */
void property_rotation(const double quat[4], double R[9]);

/* to = rate of f along q(t), which leaves q with the constant velocity v: five points, so that
 * errors of differencing stay near 1e-11.  f reads the dynamics object at q(t), v and fills
 * count numbers. */
typedef void property_fn(subject *s, double *to);
void property_rate(subject *s, const double *v, property_fn *f, double *to, size_t count);

static inline double property_dot(const double *a, const double *b, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; ++i)
    sum += a[i] * b[i];
  return sum;
}

#endif
