/* connection_error.h - the constraint error of a connection: how far its frames are apart along and
 * about the axes that it holds.  Inline, so that the readers of files have it too. */
#ifndef TBI_CONNECTION_ERROR_H
#define TBI_CONNECTION_ERROR_H

#include "math/quat.h"
#include "tabi/tabi.h"

#define TBI_CONNECTION_GAP  1e-3 /* m, above which a start is called open */
#define TBI_CONNECTION_TURN 1e-2 /* rad: a millimetre at 0.1 m */

typedef struct tbi_connection_error {
  double gap, turn; /* m, rad */
} tbi_connection_error;

/* A frame of a link in the world. */
static inline void tbi_connection_frame(const tabi_dynamics *dynamics, int32_t link,
                                        const double pos[3], const double quat[4], v3 *at,
                                        q4 *axes) {
  double origin[3] = {0, 0, 0};
  double turned[4] = {1, 0, 0, 0};
  if (link != TABI_WORLD) tabi_dynamics_link_pose(dynamics, link, origin, turned);
  m3 rot = q_matrix(q_load(turned));
  *at = v3_add(v3_load(origin), m3_mulv(&rot, v3_load(pos)));
  *axes = q_mul(q_load(turned), q_load(quat));
}

#define TBI_CONNECTION_ALL_AXES \
  ((uint32_t)(TABI_MOVE_X | TABI_MOVE_Y | TABI_MOVE_Z | TABI_TURN_X | TABI_TURN_Y | TABI_TURN_Z))

static inline uint32_t tbi_connection_axes(const tabi_connection_def *c) {
  const uint32_t moves = TABI_MOVE_X | TABI_MOVE_Y | TABI_MOVE_Z;
  if (c->type == TABI_CONNECTION_AXES) return c->axes;
  if (c->type == TABI_CONNECTION_HINGE) return moves | TABI_TURN_X | TABI_TURN_Y;
  if (c->type == TABI_CONNECTION_FIXED) return TBI_CONNECTION_ALL_AXES;
  return moves;
}

static inline tbi_connection_error tbi_connection_error_of(const tabi_dynamics *dynamics,
                                                           const tabi_connection_def *c) {
  v3 at[2];
  q4 axes[2];
  tbi_connection_frame(dynamics, c->a, c->pos_a, c->quat_a, &at[0], &axes[0]);
  tbi_connection_frame(dynamics, c->b, c->pos_b, c->quat_b, &at[1], &axes[1]);
  m3 to_world = q_matrix(axes[0]);
  v3 apart = m3_tmulv(&to_world, v3_sub(at[1], at[0]));
  q4 back = {axes[0].w, -axes[0].x, -axes[0].y, -axes[0].z};
  q4 turn = q_mul(back, axes[1]);
  if (c->type == TABI_CONNECTION_ROD)
    return (tbi_connection_error){fabs(v3_norm(apart) - c->length), 0};
  if (c->type == TABI_CONNECTION_SPRING) return (tbi_connection_error){0, 0};
  uint32_t held = tbi_connection_axes(c);
  const double all[6] = {apart.x, apart.y, apart.z, turn.x, turn.y, turn.z};
  double sum[2] = {0, 0};
  for (int i = 0; i < 6; ++i) {
    if (held & (UINT32_C(1) << i)) sum[i / 3] += all[i] * all[i];
  }
  // one turn alone is held as by a universal joint, which may stand at any angles
  uint32_t turns = held / TABI_TURN_X;
  bool universal = (turns & (turns - 1)) == 0;
  return (tbi_connection_error){sqrt(sum[0]), universal ? 0 : 2 * asin(fmin(1, sqrt(sum[1])))};
}

#endif
