/* statistics.c - intervals, effects and tests in plain formulas. */
#include "study/statistics.h"

#include "base/assertion.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>

#define PI     3.14159265358979323846
#define NORMAL 1.959963984540054 /* 97.5 % of the normal distribution */

/* -- distributions */

static double normal_share(double x) { return 0.5 * erfc(-x * sqrt(0.5)); }

/* p <= 0.5, by Halley's method from a rough start */
static double lower_quantile(double p) {
  double t = sqrt(-2 * log(p));
  double x = -(t - (2.30753 + 0.27061 * t) / (1 + t * (0.99229 + t * 0.04481)));
  for (int i = 0; i < 4; ++i) {
    double density = exp(-0.5 * x * x) / sqrt(2 * PI);
    double step = (normal_share(x) - p) / density;
    x -= step / (1 + 0.5 * x * step);
  }
  return x;
}

double tbi_normal_quantile(double p) {
  TBI_ASSERT(p > 0 && p < 1);
  return p > 0.5 ? -lower_quantile(1 - p) : lower_quantile(p);
}

/* The regularised incomplete beta function, by Lentz's continued fraction; x <= (a+1)/(a+b+2). */
static double beta_fraction(double a, double b, double x) {
  const double tiny = 1e-300;
  double c = 1;
  double d = 1 - (a + b) * x / (a + 1);
  d = 1 / (fabs(d) < tiny ? tiny : d);
  double f = d;
  for (int m = 1; m < 500; ++m) {
    double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    double before = f;
    for (int half = 0; half < 2; ++half) {
      double term = half == 0 ? even : odd;
      d = 1 + term * d;
      d = 1 / (fabs(d) < tiny ? tiny : d);
      c = 1 + term / c;
      if (fabs(c) < tiny) c = tiny;
      f *= c * d;
    }
    if (fabs(f - before) <= 1e-16 * fabs(f)) break;
  }
  return f;
}

static double beta_share(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
  if (x <= (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double tbi_student_share(double t, double freedom) {
  TBI_ASSERT(freedom > 0);
  double tail = 0.5 * beta_share(freedom / 2, 0.5, freedom / (freedom + t * t));
  return t < 0 ? tail : 1 - tail;
}

/* bisection: the share is monotonic, and a few dozen halvings cost nothing here */
double tbi_student_quantile(double p, double freedom) {
  TBI_ASSERT(p > 0 && p < 1);
  double low = -1;
  double high = 1;
  while (tbi_student_share(low, freedom) > p)
    low *= 2;
  while (tbi_student_share(high, freedom) < p)
    high *= 2;
  for (int i = 0; i < 200 && high - low > 1e-13 * (1 + fabs(low)); ++i) {
    double middle = 0.5 * (low + high);
    *(tbi_student_share(middle, freedom) < p ? &low : &high) = middle;
  }
  return 0.5 * (low + high);
}

/* -- intervals */

tabi_interval tabi_wilson_interval(int64_t hits, int64_t count) {
  if (count == 0) return (tabi_interval){(double)NAN, 0, 1};
  double n = (double)count;
  double p = (double)hits / n;
  double z2 = NORMAL * NORMAL;
  double centre = (p + z2 / (2 * n)) / (1 + z2 / n);
  double half = NORMAL * sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n);
  /* rounding must not leave what the formula cannot leave */
  return (tabi_interval){p, fmin(p, fmax(0, centre - half)), fmax(p, fmin(1, centre + half))};
}

static double mean_of(const double *value, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i)
    sum += value[i];
  return sum / (double)count;
}

/* sum of squares about the mean */
static double scatter(const double *value, int64_t count, double mean) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i)
    sum += (value[i] - mean) * (value[i] - mean);
  return sum;
}

tabi_interval tabi_mean_interval(const double *value, int64_t count) {
  if (count == 0) return (tabi_interval){(double)NAN, -HUGE_VAL, HUGE_VAL};
  double mean = mean_of(value, count);
  if (count == 1) return (tabi_interval){mean, -HUGE_VAL, HUGE_VAL};
  double freedom = (double)(count - 1);
  double error = sqrt(scatter(value, count, mean) / freedom / (double)count);
  double half = tbi_student_quantile(0.975, freedom) * error;
  return (tabi_interval){mean, mean - half, mean + half};
}

/* -- effects */

/* Heap sort by x, ties by place, so that the order is one whatever the library's sort does. */
static void sift(const double *x, int64_t *order, int64_t from, int64_t count) {
  for (int64_t child = 2 * from + 1; child < count; child = 2 * from + 1) {
    if (child + 1 < count &&
        (x[order[child + 1]] > x[order[child]] ||
         (x[order[child + 1]] == x[order[child]] && order[child + 1] > order[child]))) {
      ++child;
    }
    int64_t a = order[from];
    int64_t b = order[child];
    if (x[a] > x[b] || (x[a] == x[b] && a > b)) return;
    order[from] = b;
    order[child] = a;
    from = child;
  }
}

static void sort_by(const double *x, int64_t *order, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    order[i] = i;
  for (int64_t i = count / 2; i-- > 0;)
    sift(x, order, i, count);
  for (int64_t end = count - 1; end > 0; --end) {
    int64_t top = order[0];
    order[0] = order[end];
    order[end] = top;
    sift(x, order, 0, end);
  }
}

/* the end of the group that begins at `begin`: about `size` long, equal x together */
static int64_t group_end(const double *x, const int64_t *order, int64_t begin, int64_t size,
                         int64_t count) {
  int64_t end = begin + size < count ? begin + size : count;
  while (end < count && x[order[end]] == x[order[end - 1]])
    ++end;
  return end;
}

double tbi_main_effect(const double *x, const double *y, int64_t count, int64_t *order) {
  if (count < 3) return (double)NAN;
  double mean = mean_of(y, count);
  double total = scatter(y, count, mean);
  if (!(total > 0)) return (double)NAN;
  int64_t groups = (int64_t)fmin(20, fmax(2, sqrt((double)count) / 2));
  sort_by(x, order, count);
  double between = 0;
  double used = 0;
  for (int64_t begin = 0, end = 0; begin < count; begin = end) {
    end = group_end(x, order, begin, (count + groups - 1) / groups, count);
    double sum = 0;
    for (int64_t i = begin; i < end; ++i)
      sum += y[order[i]] - mean;
    between += sum * sum / (double)(end - begin);
    ++used;
  }
  double freedom = (double)count - used;
  if (!(freedom > 0)) return (double)NAN;
  double within = (total - between) / freedom;
  return (between - (used - 1) * within) / total;
}

/* The two indices by the groups with the given numbers; `pick` NULL: all in order. */
static void indices(const double *y, int64_t base, int32_t dimension, int32_t coordinate,
                    const int64_t *pick, double value[2]) {
  const int32_t width = dimension + 2;
  double sum = 0;
  double square = 0;
  double first = 0;
  double total = 0;
  /* about the first value, so that a large mean cancels */
  for (int64_t i = 0; i < base; ++i) {
    const double *group = y + (pick ? pick[i] : i) * width;
    double a = group[0] - y[0];
    double b = group[1] - y[0];
    double mixed = group[2 + coordinate] - y[0];
    sum += a + b;
    square += a * a + b * b;
    first += b * (mixed - a);
    total += (a - mixed) * (a - mixed);
  }
  double n = (double)base;
  double variance = square / (2 * n) - sum / (2 * n) * (sum / (2 * n));
  value[0] = first / n / variance;
  value[1] = total / (2 * n) / variance;
}

tbi_sobol_indices tbi_sobol_estimate(const double *y, int64_t base, int32_t dimension,
                                     int32_t coordinate) {
  enum { REPEATS = 200 };
  double value[2];
  double sum[2] = {0};
  double square[2] = {0};
  uint64_t state = 1;
  tbi_sobol_indices all = {
      {(double)NAN, (double)NAN, (double)NAN},
      {(double)NAN, (double)NAN, (double)NAN}
  };
  int64_t *pick = calloc((size_t)base + 1, sizeof *pick);
  if (!pick || base < 2) {
    free(pick);
    return all;
  }
  for (int repeat = 0; repeat < REPEATS; ++repeat) {
    for (int64_t i = 0; i < base; ++i)
      pick[i] = (int64_t)(tbi_random_unit(&state) * (double)base);
    indices(y, base, dimension, coordinate, pick, value);
    for (int k = 0; k < 2; ++k) {
      sum[k] += value[k];
      square[k] += value[k] * value[k];
    }
  }
  free(pick);
  indices(y, base, dimension, coordinate, NULL, value);
  tabi_interval *to[2] = {&all.first, &all.total};
  for (int k = 0; k < 2; ++k) {
    double mean = sum[k] / REPEATS;
    double half = NORMAL * sqrt(fmax(0, square[k] / REPEATS - mean * mean));
    *to[k] = (tabi_interval){value[k], value[k] - half, value[k] + half};
  }
  return all;
}

/* -- changes */

static int by_value(const void *one, const void *other) {
  const double *a = one;
  const double *b = other;
  return (*a > *b) - (*a < *b);
}

/* the probability of a scaled distance above x, by the series that converges faster */
static double kolmogorov_tail(double x) {
  if (x < 1e-3) return 1;
  double sum = 0;
  if (x < 1.18) {
    for (int k = 1; k < 20; k += 2)
      sum += exp(-k * k * PI * PI / (8 * x * x));
    return 1 - sqrt(2 * PI) / x * sum;
  }
  for (int k = 1; k < 20; ++k)
    sum += (k % 2 ? 2 : -2) * exp(-2.0 * k * k * x * x);
  return sum;
}

double tbi_same_distribution(double *a, int64_t na, double *b, int64_t nb) {
  if (na == 0 || nb == 0) return (double)NAN;
  qsort(a, (size_t)na, sizeof *a, by_value);
  qsort(b, (size_t)nb, sizeof *b, by_value);
  double distance = 0;
  for (int64_t i = 0, j = 0; i < na && j < nb;) {
    double at = fmin(a[i], b[j]);
    while (i < na && a[i] == at)
      ++i;
    while (j < nb && b[j] == at)
      ++j;
    distance = fmax(distance, fabs((double)i / (double)na - (double)j / (double)nb));
  }
  double n = sqrt((double)na * (double)nb / (double)(na + nb));
  return fmin(1, fmax(0, kolmogorov_tail((n + 0.12 + 0.11 / n) * distance)));
}

static double log_choose(double n, double k) {
  return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

double tbi_same_probability(int64_t hits_a, int64_t na, int64_t hits_b, int64_t nb) {
  if (na == 0 || nb == 0) return (double)NAN;
  const int64_t hits = hits_a + hits_b;
  const int64_t least = hits > nb ? hits - nb : 0;
  const int64_t most = hits < na ? hits : na;
  const double all = log_choose((double)(na + nb), (double)hits);
  double seen = 0;
  double sum = 0;
  for (int turn = 0; turn < 2; ++turn) {
    for (int64_t k = least; k <= most; ++k) {
      double p =
          exp(log_choose((double)na, (double)k) + log_choose((double)nb, (double)(hits - k)) - all);
      if (turn == 0 && k == hits_a) seen = p;
      if (turn == 1 && p <= seen * (1 + 1e-7)) sum += p;
    }
  }
  return fmin(1, sum);
}
