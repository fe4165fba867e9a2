/* trig.h - sine and cosine of many angles at once, the same bits on every machine. */
#ifndef TBI_TRIG_H
#define TBI_TRIG_H

/* sine[i] and cosine[i] of angle[i], to 1 ulp or so for |angle| up to 1e5 rad; beyond, and for
 * what is not finite, as libm.  The arrays must not overlap. */
void tbi_sincos(int n, const double *restrict angle, double *restrict sine,
                double *restrict cosine);

#endif
