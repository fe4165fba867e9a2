/* statistics.h - what numbers of many runs tell: intervals, effects of parameters, changes. */
#ifndef TBI_STATISTICS_H
#define TBI_STATISTICS_H

#include "tabi/tabi_study.h"

/* The normal distribution: the value below which a share p of it lies, 0 < p < 1. */
double tbi_normal_quantile(double p);
/* Student's t with some degrees of freedom: the share below t, and the value below which a share p
 * lies. */
double tbi_student_share(double t, double freedom);
double tbi_student_quantile(double p, double freedom);

/* The share of the variance of y that groups of equal size by rank of x explain, without what
 * chance alone would: epsilon squared (T. L. Kelley, 1935); NAN where y is constant.  order[count]
 * is scratch. */
double tbi_main_effect(const double *x, const double *y, int64_t count, int64_t *order);

/* Sensitivity indices of a coordinate by y of `base` groups of dimension + 2 runs each, as
 * tbi_sampling's saltelli orders them: the first-order index of A. Saltelli et al. (2010) and the
 * total one of M. J. W. Jansen (1999), with 95 % intervals by resampling groups. */
typedef struct tbi_sobol_indices {
  tabi_interval first, total;
} tbi_sobol_indices;
tbi_sobol_indices tbi_sobol_estimate(const double *y, int64_t base, int32_t dimension,
                                     int32_t coordinate);

/* Whether two samples come from one distribution: the probability of a distance as large as theirs
 * if they do (Kolmogorov and Smirnov; asymptotic).  Both get sorted. */
double tbi_same_distribution(double *a, int64_t na, double *b, int64_t nb);
/* The same for yes and no (R. A. Fisher's exact test, two-sided). */
double tbi_same_probability(int64_t hits_a, int64_t na, int64_t hits_b, int64_t nb);

#endif
