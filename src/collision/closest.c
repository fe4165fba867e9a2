/* closest.c - nearest points of two segments, and of a segment and a box. */
#include "collision/closest.h"

void tbi_nearest_segments(const tbi_segment *a, const tbi_segment *b, double t[2]) {
  v3 apart = v3_sub(a->middle, b->middle);
  v3 across = v3_cross(a->along, b->along);
  double cosine = v3_dot(a->along, b->along);
  double sine2 = v3_dot(across, across);
  double at_a = v3_dot(a->along, apart);
  double at_b = v3_dot(b->along, apart);

  /* of parallel lines any point will do to start from */
  t[0] = sine2 > 1e-14 ? tbi_clamp((cosine * at_b - at_a) / sine2, a->half) : 0;
  t[1] = tbi_clamp(cosine * t[0] + at_b, b->half);
  t[0] = tbi_clamp(cosine * t[1] - at_a, a->half);
}

/* Half the rate at which the squared distance to the box grows: never falls with t. */
static double growth(const tbi_segment *s, const double half[3], double t) {
  return v3_dot(s->along, tbi_box_excess(half, tbi_segment_at(s, t)));
}

double tbi_nearest_to_box(const tbi_segment *s, const double half[3]) {
  double low = -s->half;
  double high = s->half;
  double at_low = growth(s, half, low);
  double at_high = growth(s, half, high);
  if (at_low >= 0) return low;
  if (at_high <= 0) return high;

  /* between neighbouring crossings of the faces' planes the rate is linear */
  double middle[3] = {s->middle.x, s->middle.y, s->middle.z};
  double along[3] = {s->along.x, s->along.y, s->along.z};
  for (int i = 0; i < 6; ++i) {
    double face = i & 1 ? half[i >> 1] : -half[i >> 1];
    double t = (face - middle[i >> 1]) / along[i >> 1];
    if (!(t > low && t < high)) continue;
    double here = growth(s, half, t);
    if (here <= 0) {
      low = t;
      at_low = here;
    } else {
      high = t;
      at_high = here;
    }
  }
  return low + (high - low) * (at_low / (at_low - at_high));
}

bool tbi_clip_slab(double middle, double along, double half, double range[2]) {
  if (along == 0) return fabs(middle) <= half;
  double enter = (-half - middle) / along;
  double leave = (half - middle) / along;
  range[0] = fmax(range[0], fmin(enter, leave));
  range[1] = fmin(range[1], fmax(enter, leave));
  return range[0] <= range[1];
}
