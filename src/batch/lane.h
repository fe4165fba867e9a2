/* lane.h - one number of TBI_LANES worlds at once, through the compiler's vector extension.
 *
 * The source that includes this is compiled once for each width, every object for the instruction
 * set that has such vectors.  Only additions, products, quotients and roots are used, which IEEE
 * 754 rounds alike everywhere, so that a world has the same bits in every lane of every width.
 * Choices are made in the bits: a lane that shall not change selects, whatever its neighbours do.
 */
#ifndef TBI_LANE_H
#define TBI_LANE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__AVX__)
#include <immintrin.h>
#endif

#ifndef TBI_LANES
#define TBI_LANES 1
#endif

#define LANE_INLINE static inline __attribute__((always_inline))

#if TBI_LANES == 1
typedef double ln;
typedef int64_t lm; /* mask: all bits of a lane, or none */
LANE_INLINE lm lm_make(bool on) { return on ? -1 : 0; }
LANE_INLINE lm ln_lt(ln a, ln b) { return lm_make(a < b); }
LANE_INLINE lm ln_le(ln a, ln b) { return lm_make(a <= b); }
LANE_INLINE ln ln_splat(double x) { return x; }
LANE_INLINE bool lm_any(lm m) { return m != 0; }
#else
typedef double ln __attribute__((vector_size(8 * TBI_LANES)));
typedef int64_t lm __attribute__((vector_size(8 * TBI_LANES)));
LANE_INLINE lm ln_lt(ln a, ln b) { return a < b; }
LANE_INLINE lm ln_le(ln a, ln b) { return a <= b; }
LANE_INLINE ln ln_splat(double x) { return x - (ln){0}; }
LANE_INLINE bool lm_any(lm m) {
#if defined(__AVX512F__) && TBI_LANES == 8
  return _mm512_test_epi64_mask((__m512i)m, (__m512i)m) != 0;
#elif defined(__AVX__) && TBI_LANES == 4
  return !_mm256_testz_si256((__m256i)m, (__m256i)m);
#else
  int64_t any = 0;
  for (int i = 0; i < TBI_LANES; ++i)
    any |= m[i];
  return any != 0;
#endif
}
#endif

LANE_INLINE lm ln_bits(ln a) {
  lm bits;
  memcpy(&bits, &a, sizeof bits);
  return bits;
}
LANE_INLINE ln ln_of(lm bits) {
  ln a;
  memcpy(&a, &bits, sizeof a);
  return a;
}
LANE_INLINE ln ln_load(const double *from) {
  ln a;
  memcpy(&a, from, sizeof a);
  return a;
}
LANE_INLINE void ln_save(ln a, double *to) { memcpy(to, &a, sizeof a); }
LANE_INLINE ln ln_select(lm m, ln a, ln b) { return ln_of((ln_bits(a) & m) | (ln_bits(b) & ~m)); }
/* a where the mask is on, else zero */
LANE_INLINE ln ln_where(lm m, ln a) { return ln_of(ln_bits(a) & m); }
LANE_INLINE ln ln_zero(void) { return ln_splat(0); }
LANE_INLINE ln ln_abs(ln a) { return ln_of(ln_bits(a) & INT64_MAX); }
LANE_INLINE ln ln_min(ln a, ln b) { return ln_select(ln_lt(a, b), a, b); }
LANE_INLINE ln ln_max(ln a, ln b) { return ln_select(ln_lt(a, b), b, a); }
LANE_INLINE ln ln_clamp(ln x, ln low, ln high) { return ln_min(ln_max(x, low), high); }
LANE_INLINE ln ln_sqrt(ln a) {
#if TBI_LANES == 1
  return sqrt(a);
#else
  ln root;
  for (int i = 0; i < TBI_LANES; ++i)
    root[i] = sqrt(a[i]);
  return root;
#endif
}
LANE_INLINE lm lm_all(void) { return ln_le(ln_zero(), ln_zero()); }
LANE_INLINE lm lm_none(void) { return ln_lt(ln_zero(), ln_zero()); }

/* Vectors of three. */
typedef struct ln3 {
  ln x, y, z;
} ln3;

LANE_INLINE ln3 ln3_splat(const double *a) {
  return (ln3){ln_splat(a[0]), ln_splat(a[1]), ln_splat(a[2])};
}
LANE_INLINE ln3 ln3_load(const double *a) {
  return (ln3){ln_load(a), ln_load(a + TBI_LANES), ln_load(a + (ptrdiff_t)2 * TBI_LANES)};
}
LANE_INLINE void ln3_save(ln3 a, double *to) {
  ln_save(a.x, to);
  ln_save(a.y, to + TBI_LANES);
  ln_save(a.z, to + (ptrdiff_t)2 * TBI_LANES);
}
LANE_INLINE ln3 ln3_zero(void) { return (ln3){ln_zero(), ln_zero(), ln_zero()}; }
LANE_INLINE ln3 ln3_add(ln3 a, ln3 b) { return (ln3){a.x + b.x, a.y + b.y, a.z + b.z}; }
LANE_INLINE ln3 ln3_sub(ln3 a, ln3 b) { return (ln3){a.x - b.x, a.y - b.y, a.z - b.z}; }
LANE_INLINE ln3 ln3_neg(ln3 a) { return (ln3){-a.x, -a.y, -a.z}; }
LANE_INLINE ln3 ln3_scale(ln s, ln3 a) { return (ln3){s * a.x, s * a.y, s * a.z}; }
LANE_INLINE ln3 ln3_axpy(ln3 a, ln s, ln3 b) {
  return (ln3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}
LANE_INLINE ln ln3_dot(ln3 a, ln3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
LANE_INLINE ln ln3_norm(ln3 a) { return ln_sqrt(ln3_dot(a, a)); }
LANE_INLINE ln3 ln3_cross(ln3 a, ln3 b) {
  return (ln3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
LANE_INLINE ln3 ln3_select(lm m, ln3 a, ln3 b) {
  return (ln3){ln_select(m, a.x, b.x), ln_select(m, a.y, b.y), ln_select(m, a.z, b.z)};
}
LANE_INLINE ln3 ln3_where(lm m, ln3 a) {
  return (ln3){ln_where(m, a.x), ln_where(m, a.y), ln_where(m, a.z)};
}

/* Motions and forces in Pluecker coordinates, linear part first, as math/spatial.h. */
typedef struct ln6 {
  ln3 lin, ang;
} ln6;

LANE_INLINE ln6 ln6_load(const double *a) {
  return (ln6){ln3_load(a), ln3_load(a + (ptrdiff_t)3 * TBI_LANES)};
}
LANE_INLINE void ln6_save(ln6 a, double *to) {
  ln3_save(a.lin, to);
  ln3_save(a.ang, to + (ptrdiff_t)3 * TBI_LANES);
}
LANE_INLINE ln6 ln6_zero(void) { return (ln6){ln3_zero(), ln3_zero()}; }
LANE_INLINE ln6 ln6_add(ln6 a, ln6 b) {
  return (ln6){ln3_add(a.lin, b.lin), ln3_add(a.ang, b.ang)};
}
LANE_INLINE ln6 ln6_sub(ln6 a, ln6 b) {
  return (ln6){ln3_sub(a.lin, b.lin), ln3_sub(a.ang, b.ang)};
}
LANE_INLINE ln6 ln6_scale(ln s, ln6 a) { return (ln6){ln3_scale(s, a.lin), ln3_scale(s, a.ang)}; }
LANE_INLINE ln6 ln6_axpy(ln6 a, ln s, ln6 b) {
  return (ln6){ln3_axpy(a.lin, s, b.lin), ln3_axpy(a.ang, s, b.ang)};
}
LANE_INLINE ln ln6_dot(ln6 a, ln6 b) { return ln3_dot(a.lin, b.lin) + ln3_dot(a.ang, b.ang); }
/* v x m: rate of the motion m that is carried along by v */
LANE_INLINE ln6 ln6_cross(ln6 v, ln6 m) {
  return (ln6){ln3_add(ln3_cross(v.ang, m.lin), ln3_cross(v.lin, m.ang)), ln3_cross(v.ang, m.ang)};
}
/* v x* f: rate of the force f that is carried along by v */
LANE_INLINE ln6 ln6_cross_force(ln6 v, ln6 f) {
  return (ln6){ln3_cross(v.ang, f.lin), ln3_add(ln3_cross(v.lin, f.lin), ln3_cross(v.ang, f.ang))};
}
/* velocity of the point x under the motion v */
LANE_INLINE ln3 ln6_at(ln6 v, ln3 x) { return ln3_add(v.lin, ln3_cross(v.ang, x)); }
/* a force at the point x as a wrench */
LANE_INLINE ln6 ln6_force_at(ln3 x, ln3 f) { return (ln6){f, ln3_cross(x, f)}; }

/* 3x3 by columns. */
typedef struct ln33 {
  ln3 x, y, z;
} ln33;

LANE_INLINE ln3 ln33_mulv(const ln33 *a, ln3 b) {
  return ln3_axpy(ln3_axpy(ln3_scale(b.x, a->x), b.y, a->y), b.z, a->z);
}
LANE_INLINE ln3 ln33_mul_splat(const ln33 *a, const double *b) {
  return ln33_mulv(a, ln3_splat(b));
}
/* a' b */
LANE_INLINE ln3 ln33_tmulv(const ln33 *a, ln3 b) {
  return (ln3){ln3_dot(a->x, b), ln3_dot(a->y, b), ln3_dot(a->z, b)};
}
LANE_INLINE ln33 ln33_load(const double *a) {
  return (ln33){ln3_load(a), ln3_load(a + (ptrdiff_t)3 * TBI_LANES),
                ln3_load(a + (ptrdiff_t)6 * TBI_LANES)};
}
LANE_INLINE void ln33_save(const ln33 *a, double *to) {
  ln3_save(a->x, to);
  ln3_save(a->y, to + (ptrdiff_t)3 * TBI_LANES);
  ln3_save(a->z, to + (ptrdiff_t)6 * TBI_LANES);
}

/* Sine and cosine by the steps of math/trig.c, for |a| <= 1e6: a world that turns farther has
 * diverged. */
LANE_INLINE void ln_sincos(ln a, ln *sine, ln *cosine) {
  const ln round = ln_splat(6755399441055744.0); /* 1.5 * 2^52 */
  ln shifted = a * 6.36619772367581382433e-01 + round;
  ln k = shifted - round;
  ln high = a - k * 1.57079632673412561417e+00;
  ln middle = k * 6.07710050630396597660e-11;
  ln rest = high - middle;
  ln low = k * 2.02226624879595063154e-21 - ((high - rest) - middle);
  ln x = rest - low;
  ln e = (rest - x) - low;
  ln z = x * x;
  ln ps = 8.33333333332248946124e-03 +
          z * (-1.98412698298579493134e-04 +
               z * (2.75573137070700676789e-06 +
                    z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)));
  ln s = x - ((z * (0.5 * e - z * x * ps) - e) + z * x * 1.66666666666666324348e-01);
  ln pc = 4.16666666666666019037e-02 +
          z * (-1.38888888888741095749e-03 +
               z * (2.48015872894767294178e-05 +
                    z * (-2.75573143513906633035e-07 +
                         z * (2.08757232129817482790e-09 - z * 1.13596475577881948265e-11))));
  ln half = 0.5 * z;
  ln w = 1 - half;
  ln c = w + (((1 - w) - half) + (z * z * pc - x * e));
  lm quadrant = ln_bits(shifted);
  lm odd = -(quadrant & 1);
  lm swap = (ln_bits(s) ^ ln_bits(c)) & odd;
  lm sign = (lm)(ln_bits(ln_splat(-0.0)));
  lm negative_s = -((quadrant >> 1) & 1);
  lm negative_c = -((quadrant ^ (quadrant >> 1)) & 1);
  *sine = ln_of((ln_bits(s) ^ swap) ^ (negative_s & sign));
  *cosine = ln_of((ln_bits(c) ^ swap) ^ (negative_c & sign));
}

#endif
