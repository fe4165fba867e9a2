/* lipm.c - gains of the linear inverted pendulum with ZMP delay (Kajita et al. 2010).  With w^2 =
 * gravity / height,
 *
 *   x'' = w^2 (x - p),   p' = (k . (x, x', p) - p) / delay,
 *
 * whose characteristic polynomial is compared with (s - a)(s - b)(s + w). */
#include "base/assertion.h"
#include "tabi/tabi_control.h"

#include <math.h>

void tabi_lipm_gains(double height, double gravity, double delay, const double pole[2],
                     double gain[3]) {
  TBI_ASSERT(height > 0 && gravity > 0 && delay > 0 && pole && gain);
  double w2 = gravity / height;
  double w = sqrt(w2);
  double a = pole[0];
  double b = pole[1];
  double c2 = w - a - b;
  double c1 = a * b - w * (a + b);
  double c0 = a * b * w;
  gain[0] = (c0 + c2 * w2) * delay / w2;
  gain[1] = (c1 + w2) * delay / w2;
  gain[2] = 1 - c2 * delay;
}
