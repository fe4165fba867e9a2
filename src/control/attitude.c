/* attitude.c - see attitude.h.  A complementary filter: the gyro at high frequencies, gravity at
 * low ones. */
#include "control/attitude.h"

#include "base/assertion.h"
#include "math/quat.h"

v3 tbi_attitude_update(v3 up, v3 rate, v3 measured, double time, double settle) {
  TBI_ASSERT(time >= 0 && settle > 0);
  TBI_CHECK_SLOW(fabs(v3_norm(up) - 1) < 1e-6);
  /* a fixed vector turns backwards in axes that turn */
  m3 turn = q_matrix(q_exp(v3_scale(-time, rate)));
  v3 next = m3_mulv(&turn, up);
  double size = v3_norm(measured);
  if (size > 0) {
    double share = time / (settle + time);
    next = v3_axpy(next, share, v3_sub(v3_scale(1 / size, measured), next));
  }
  return v3_scale(1 / v3_norm(next), next);
}

void tbi_attitude_tilt(v3 up, double tilt[2]) {
  /* axes that were turned about y, then about their own x */
  tilt[0] = atan2(up.y, up.z);
  tilt[1] = atan2(-up.x, hypot(up.y, up.z));
}

void tbi_attitude_slope(v3 up, double sine[2], double cosine[2]) {
  double across = sqrt(up.y * up.y + up.z * up.z);
  sine[0] = across > 0 ? up.y / across : 0;
  cosine[0] = across > 0 ? up.z / across : 1;
  sine[1] = -up.x;
  cosine[1] = across;
}
