/* fit_solve.c - the least squares of a fit, and how well the data determine it.
 *
 * minpack's Levenberg-Marquardt method in the numbers z of fit.h.  The covariance of z at the end
 * is s^2 (J'J + s^2/p^2)^-1 with J by central differences, s^2 = 1 where the noise is known and the
 * mean square of the residuals otherwise, and p = 10: the bounds as a weak prior, so that what the
 * data do not determine is left anywhere between its bounds instead of being singular.
 *
 * Errors of J look like knowledge: those of wide differences, of the order of the step squared, in
 * directions that the data do not determine, and those of narrow ones where runs are rough.  So J
 * is taken by a step, by twice that step, and by both extrapolated to none (Richardson), and the
 * covariance that knows least counts. */
#include "base/assertion.h"
#include "base/error.h"
#include "study/fit.h"
#include "study/statistics.h"

#include <cminpack.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* of z, for differences: wide, as runs with contacts and dry friction are not smooth in the small
 */
#define STEP       2e-2
#define PRIOR      10.0 /* standard deviation of z before there are data */
#define UNDECIDED  0.9  /* share of the bounds that an interval may cover */
#define EDGE       7.0  /* of z, within 0.1 % of the bounds */
#define MAX_VISITS 100  /* of minpack */
#define TOLERANCE  1e-7 /* relative, of the sum of squares and of z */

/* What minpack's function is given. */
typedef struct problem {
  const tabi_fit *fit;
  int32_t jobs;
  double *point;    /* [2 n][n], for differences */
  double *residual; /* [2 n][m] */
  tabi_error failed;
} problem;

/* jacobian[n][m] at z by central differences. */
static tabi_status differences(problem *p, const double *z, double step, double *jacobian) {
  int32_t n = p->fit->study.nparameter;
  int64_t m = p->fit->nresidual;
  for (int32_t i = 0; i < 2 * n; ++i) {
    double *point = p->point + (size_t)i * (size_t)n;
    memcpy(point, z, (size_t)n * sizeof *z);
    point[i / 2] += i % 2 ? -step : step;
  }
  tabi_status status = tbi_fit_residuals(p->fit, p->point, 2 * n, p->jobs, p->residual, &p->failed);
  for (int32_t i = 0; i < n && status == TABI_OK; ++i) {
    const double *above = p->residual + 2 * (int64_t)i * m;
    for (int64_t k = 0; k < m; ++k)
      jacobian[(int64_t)i * m + k] = (above[k] - above[m + k]) / (2 * step);
  }
  return status;
}

/* minpack's call, whose parameters are as many: residuals, or their derivatives by columns */
/* NOLINTNEXTLINE(readability-function-size) */
static int evaluate(void *of, int m, int n, const double *z, double *residual, double *jacobian,
                    int leading, int which) {
  problem *p = of;
  (void)m;
  (void)n;
  (void)leading;
  tabi_status status = which == 1 ? tbi_fit_residuals(p->fit, z, 1, p->jobs, residual, &p->failed)
                                  : differences(p, z, STEP, jacobian);
  return status == TABI_OK ? 0 : -1;
}

/* Memory of a solution. */
typedef struct scratch {
  double *jacobian, *residual, *wa;
  int *pivot;
} scratch;

static double sum_of_squares(const double *value, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i)
    sum += value[i] * value[i];
  return sum;
}

/* From z; whether it converged.  p->failed tells of errors. */
static bool descend(problem *p, double *z, scratch *s, double *sum) {
  int n = p->fit->study.nparameter;
  int m = (int)p->fit->nresidual;
  int visits = 0;
  int slopes = 0;
  double *wa = s->wa;
  const ptrdiff_t w = n; /* places of minpack's vectors */
  int info = lmder(evaluate, p, m, n, z, s->residual, s->jacobian, m, TOLERANCE, TOLERANCE, 0,
                   MAX_VISITS, wa, 1, 100, 0, &visits, &slopes, s->pivot, wa + w, wa + 2 * w,
                   wa + 3 * w, wa + 4 * w, wa + 5 * w);
  *sum = sum_of_squares(s->residual, m);
  return info >= 1 && info <= 4;
}

/* -- errors */

/* Inverse of a symmetric positive matrix a[n][n] by Cholesky's factor, in place. */
static void invert(double *a, int32_t n) {
  for (int32_t j = 0; j < n; ++j) {
    for (int32_t i = j; i < n; ++i) {
      double sum = a[i * n + j];
      for (int32_t k = 0; k < j; ++k)
        sum -= a[i * n + k] * a[j * n + k];
      a[i * n + j] = i == j ? sqrt(sum) : sum / a[j * n + j];
    }
  }
  /* the inverse of the factor, below the diagonal */
  for (int32_t j = 0; j < n; ++j) {
    a[j * n + j] = 1 / a[j * n + j];
    for (int32_t i = j + 1; i < n; ++i) {
      double sum = 0;
      for (int32_t k = j; k < i; ++k)
        sum -= a[i * n + k] * a[k * n + j];
      a[i * n + j] = sum / a[i * n + i];
    }
  }
  for (int32_t i = 0; i < n; ++i) {
    for (int32_t j = 0; j <= i; ++j) {
      double sum = 0;
      for (int32_t k = i; k < n; ++k)
        sum += a[k * n + i] * a[k * n + j];
      a[j * n + i] = sum;
    }
  }
  for (int32_t i = 0; i < n; ++i) {
    for (int32_t j = 0; j < i; ++j)
      a[i * n + j] = a[j * n + i];
  }
}

static double variance(const tabi_fit *fit, double sum) {
  double freedom = fmax(1, (double)(fit->nresidual - fit->study.nparameter));
  return fit->absolute ? 1 : fmax(sum / freedom, 1e-300);
}

/* the covariance of z: a[n][n] */
static void covariance(const tabi_fit *fit, const double *jacobian, double s2, double *a) {
  int32_t n = fit->study.nparameter;
  for (int32_t i = 0; i < n; ++i) {
    for (int32_t j = 0; j < n; ++j) {
      double dot = i == j ? s2 / (PRIOR * PRIOR) : 0;
      for (int64_t k = 0; k < fit->nresidual; ++k)
        dot +=
            jacobian[(int64_t)i * fit->nresidual + k] * jacobian[(int64_t)j * fit->nresidual + k];
      a[i * n + j] = dot / s2;
    }
  }
  invert(a, n);
}

static void judge(tabi_fit *fit, const double *z, const double *a) {
  int32_t n = fit->study.nparameter;
  double quantile = tbi_student_quantile(0.975, fmax(1, (double)(fit->nresidual - n)));
  for (int32_t i = 0; i < n; ++i) {
    const tbi_parameter *p = &fit->study.parameter[i];
    double error = sqrt(a[i * n + i]);
    double slope = (tbi_fit_value(p, z[i] + STEP) - tbi_fit_value(p, z[i] - STEP)) / (2 * STEP);
    double low = z[i] - quantile * error;
    double high = z[i] + quantile * error;
    double covered = 1 / (1 + exp(-high)) - 1 / (1 + exp(-low));
    fit->parameter[i] = (tabi_fit_parameter){
        .name = p->name,
        .value = tbi_fit_value(p, z[i]),
        .error = fabs(slope) * error,
        .low = tbi_fit_value(p, low),
        .high = tbi_fit_value(p, high),
        .identifiable = covered < UNDECIDED,
        .at_bound = covered < UNDECIDED && fabs(z[i]) > EDGE,
    };
    for (int32_t j = 0; j < n; ++j)
      fit->correlation[i * n + j] = a[i * n + j] / sqrt(a[i * n + i] * a[j * n + j]);
  }
}

static double trace(const double *a, int32_t n) {
  double sum = 0;
  for (int32_t i = 0; i < n; ++i)
    sum += a[i * n + i];
  return sum;
}

/* Keeps in a[n][n] the wider of it and the covariance by a Jacobian. */
static void keep_wider(const tabi_fit *fit, const double *jacobian, double s2, double *a) {
  int32_t n = fit->study.nparameter;
  double *other = a + (ptrdiff_t)n * n;
  covariance(fit, jacobian, s2, other);
  if (trace(other, n) > trace(a, n)) memcpy(a, other, (size_t)n * (size_t)n * sizeof *a);
}

/* The covariance of z by three Jacobians; s->wa has place for two. */
static tabi_status find_covariance(const tabi_fit *fit, problem *p, const double *z, double s2,
                                   scratch *s) {
  size_t count = (size_t)fit->study.nparameter * (size_t)fit->nresidual;
  double *coarse = malloc((count + 1) * sizeof *coarse);
  if (!coarse) return tbi_error_memory(&p->failed);
  tabi_status status = differences(p, z, STEP, s->jacobian);
  if (status == TABI_OK) status = differences(p, z, 2 * STEP, coarse);
  if (status == TABI_OK) {
    covariance(fit, s->jacobian, s2, s->wa);
    keep_wider(fit, coarse, s2, s->wa);
    for (size_t i = 0; i < count; ++i)
      s->jacobian[i] = (4 * s->jacobian[i] - coarse[i]) / 3;
    keep_wider(fit, s->jacobian, s2, s->wa);
  }
  free(coarse);
  return status;
}

static tabi_status finish(tabi_fit *fit, problem *p, const double *z, scratch *s) {
  tabi_status status = tbi_fit_residuals(fit, z, 1, p->jobs, fit->residual, &p->failed);
  if (status != TABI_OK) return status;
  double scale = variance(fit, sum_of_squares(fit->residual, fit->nresidual));
  tbi_fit_undo_loss(fit, fit->residual);
  double sum = sum_of_squares(fit->residual, fit->nresidual);
  fit->rms = sqrt(sum / (double)fit->nresidual);
  status = find_covariance(fit, p, z, scale, s);
  if (status == TABI_OK) judge(fit, z, s->wa);
  return status;
}

/* -- the search */

/* The first search begins in the middle, others anywhere. */
static void start_at(const tabi_fit *fit, int32_t start, double *z) {
  const tbi_design design = {.sampling = TBI_SAMPLING_LATIN,
                             .dimension = fit->study.nparameter,
                             .runs = fit->starts,
                             .seed = fit->seed};
  for (int32_t i = 0; i < fit->study.nparameter; ++i) {
    double u = tbi_design_point(&design, start, i);
    z[i] = start == 0 ? 0 : log(u / (1 - u));
  }
}

static tabi_status search(tabi_fit *fit, problem *p, scratch *s, double *best, double *z) {
  double least = HUGE_VAL;
  size_t size = (size_t)fit->study.nparameter * sizeof *z;
  for (int32_t start = 0; start < fit->starts; ++start) {
    double sum = HUGE_VAL;
    start_at(fit, start, z);
    bool converged = descend(p, z, s, &sum);
    if (p->failed.status != TABI_OK) return p->failed.status;
    if (!(sum < least)) continue;
    least = sum;
    fit->converged = converged;
    memcpy(best, z, size);
  }
  return finish(fit, p, best, s);
}

tabi_status tabi_fit_solve(tabi_fit *fit, int32_t jobs, tabi_error *err) {
  TBI_ASSERT(fit);
  size_t n = (size_t)fit->study.nparameter;
  size_t m = (size_t)fit->nresidual;
  if (m < n || n == 0 || m > 10000000) {
    return tbi_error_set(err, TABI_ERR_ARGUMENT, (tabi_place){fit->study.path, 1},
                         "%zu measured values do not fit %zu parameters", m, n);
  }
  problem p = {.fit = fit, .jobs = jobs};
  scratch s = {calloc(n * m, sizeof(double)), calloc(m, sizeof(double)),
               calloc(5 * n + m + 2 * n * n, sizeof(double)), calloc(n, sizeof(int))};
  p.point = calloc(2 * n * n, sizeof *p.point);
  p.residual = calloc(2 * n * m, sizeof *p.residual);
  double *z = calloc(2 * n, sizeof *z);
  bool memory = s.jacobian && s.residual && s.wa && s.pivot && p.point && p.residual && z;
  tabi_status status = memory ? search(fit, &p, &s, z, z + n) : tbi_error_memory(&p.failed);
  free(s.jacobian);
  free(s.residual);
  free(s.wa);
  free(s.pivot);
  free(p.point);
  free(p.residual);
  free(z);
  if (err && status != TABI_OK) *err = p.failed;
  return status;
}
