/* compound_joint.c - see compound_joint.h. */
#include "doctor/compound_joint.h"

#include "base/assertion.h"

#define MAX_HINGES 3
#define NEAR       1e-3 /* m by which axes may miss the point */

typedef struct line {
  v3 point, along;
} line;

static bool is_hinge(tabi_joint_type type) {
  return type == TABI_JOINT_REVOLUTE || type == TABI_JOINT_CONTINUOUS;
}

/* The hinges from `above` down to `below`, the last first; 0 where it does not hang there by two or
 * three. */
static int32_t find_hinges(const tabi_model *model, int32_t above, int32_t below,
                           int32_t hinge[MAX_HINGES]) {
  int32_t count = 0;
  for (; below != above; below = model->body[below].parent) {
    /* parents have lower numbers */
    if (below < above || count == MAX_HINGES || !is_hinge(model->body[below].type)) return 0;
    hinge[count++] = below;
  }
  return count > 1 ? count : 0;
}

/* Of a line the point that is nearest to another; its own where they are parallel. */
static v3 nearest_point(const line *a, const line *b) {
  v3 between = v3_sub(b->point, a->point);
  double cosine = v3_dot(a->along, b->along);
  double sine2 = 1 - cosine * cosine;
  if (!(sine2 > 1e-6)) return a->point;
  double t = (v3_dot(between, a->along) - cosine * v3_dot(between, b->along)) / sine2;
  return v3_axpy(a->point, t, a->along);
}

static double distance(const line *a, v3 p) {
  return v3_norm(v3_cross(v3_sub(p, a->point), a->along));
}

bool tbi_compound_joint_joins(const tabi_model *model, int32_t body_a, int32_t body_b) {
  TBI_ASSERT(body_a >= 0 && body_b >= 0);
  int32_t hinge[MAX_HINGES];
  line axis[MAX_HINGES];
  int32_t above = body_a < body_b ? body_a : body_b;
  int32_t count = find_hinges(model, above, body_a < body_b ? body_b : body_a, hinge);
  tbi_frame frame = tbi_frame_identity();
  for (int32_t i = 0; i < count; ++i) {
    frame = tbi_frame_mul(&frame, &model->body[hinge[count - 1 - i]].place);
    axis[i] = (line){frame.pos, m3_column(&frame.rot, 2)};
  }
  if (count == 0) return false;
  v3 centre = nearest_point(&axis[0], &axis[1]);
  for (int32_t i = 0; i < count; ++i)
    if (distance(&axis[i], centre) > NEAR) return false;
  return true;
}
