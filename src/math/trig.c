/* trig.c - sine and cosine without branches, so that the compiler makes vector code of the loop
 * and the result does not depend on the machine's libm.  Choices are made in the bits of numbers,
 * as integers, since the smallest vector units cannot compare and select.
 *
 * The angle is reduced by multiples of pi/2 taken off in three parts (Cody and Waite), whose
 * leading two have zeros at the end so that k times them is exact for |k| < 2^20; then the minimax
 * polynomials of Ng's kernels on [-pi/4, pi/4] with the rounding error of the reduction carried
 * along. */
#include "math/trig.h"

#include <math.h>
#include <stdint.h>

#define TWO_OVER_PI 6.36619772367581382433e-01
#define PIO2_HIGH   1.57079632673412561417e+00 /* 33 bits of pi/2 */
#define PIO2_MIDDLE 6.07710050630396597660e-11 /* the next 33 bits */
#define PIO2_LOW    2.02226624879595063154e-21 /* and the rest */
#define ROUND       6755399441055744.0         /* 1.5 * 2^52: adding it rounds to an integer */
#define LARGEST     1e5

static inline uint64_t bits_of(double x) {
  union {
    double x;
    uint64_t bits;
  } u = {x};
  return u.bits;
}

static inline double double_of(uint64_t bits) {
  union {
    uint64_t bits;
    double x;
  } u = {bits};
  return u.x;
}

static inline void sincos_one(double a, double *sine, double *cosine) {
  /* a = k pi/2 + x + e */
  double shifted = a * TWO_OVER_PI + ROUND;
  double k = shifted - ROUND;
  double high = a - k * PIO2_HIGH;
  double middle = k * PIO2_MIDDLE;
  double rest = high - middle;
  double low = k * PIO2_LOW - ((high - rest) - middle);
  double x = rest - low;
  double e = (rest - x) - low;

  double z = x * x;
  double ps = 8.33333333332248946124e-03 +
              z * (-1.98412698298579493134e-04 +
                   z * (2.75573137070700676789e-06 +
                        z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)));
  double s = x - ((z * (0.5 * e - z * x * ps) - e) + z * x * 1.66666666666666324348e-01);
  double pc = 4.16666666666666019037e-02 +
              z * (-1.38888888888741095749e-03 +
                   z * (2.48015872894767294178e-05 +
                        z * (-2.75573143513906633035e-07 +
                             z * (2.08757232129817482790e-09 - z * 1.13596475577881948265e-11))));
  double half = 0.5 * z;
  double w = 1 - half;
  double c = w + (((1 - w) - half) + (z * z * pc - x * e));

  /* quadrant by the last two bits of k: swap for odd k, then the signs, all in the bits */
  uint64_t quadrant = bits_of(shifted);
  uint64_t odd = 0 - (quadrant & 1);
  uint64_t swap = (bits_of(s) ^ bits_of(c)) & odd;
  *sine = double_of((bits_of(s) ^ swap) ^ ((quadrant >> 1) << 63));
  *cosine = double_of((bits_of(c) ^ swap) ^ ((quadrant ^ (quadrant >> 1)) << 63));
}

void tbi_sincos(int n, const double *restrict angle, double *restrict sine,
                double *restrict cosine) {
  uint64_t wild = 0; /* the top bit: some angle is above LARGEST or no number */
  for (int i = 0; i < n; ++i) {
    wild |= bits_of(LARGEST) - bits_of(fabs(angle[i]));
    sincos_one(angle[i], &sine[i], &cosine[i]);
  }
  for (int i = 0; wild >> 63 && i < n; ++i) {
    if (fabs(angle[i]) <= LARGEST) continue;
    sine[i] = sin(angle[i]);
    cosine[i] = cos(angle[i]);
  }
}
