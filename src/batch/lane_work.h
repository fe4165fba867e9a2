/* lane_work.h - the memory of one lane step: a group of worlds, and scratch.
 *
 * Every array holds its numbers one after another, each for all lanes: x[i * lanes + lane].  The
 * width is known to the object that steps, not here. */
#ifndef TBI_LANE_WORK_H
#define TBI_LANE_WORK_H

#include "batch/plan.h"

enum {
  TBI_MAX_LANES = 8,
  TBI_FEET = TBI_PLAN_FEET,
};

/* Numbers of the record of an active slot. */
enum {
  TBI_SLOT_FRAME = 0, /* normal, two tangents: 9 */
  TBI_SLOT_ARM_B = 9, /* from the origin of the tree */
  TBI_SLOT_ARM_A = 12,
  TBI_SLOT_BEFORE = 15, /* velocity before the step, in the frame */
  TBI_SLOT_W = 18,      /* nn tt ss nt ns ts */
  TBI_SLOT_INVERSE = 24,
  TBI_SLOT_TANGENT = 30, /* 1 / the larger eigenvalue of the tangential block */
  TBI_SLOT_GAP = 31,
  TBI_SLOT_TARGET = 32,
  TBI_SLOT_FRICTION = 33,
  TBI_SLOT_ON = 34,     /* mask */
  TBI_SLOT_AFTER = 35,  /* velocity after the step, in the frame: 3 */
  TBI_SLOT_NORMAL = 38, /* 1 / the normal response */
  TBI_SLOT_MOVES = 39,  /* mask of lanes in which the point can move */
  TBI_SLOT_HELD = 40,   /* mask of lanes in which it pushes at the start */
  TBI_SLOT_SIZE = 41,
};

/* Numbers of the record of rolling and torsional friction at a slot. */
enum {
  TBI_ROLL_BEFORE = 0, /* rad/s before the step, of b against a, in the frame of the slot */
  TBI_ROLL_W = 3,      /* nn tt ss nt ns ts */
  TBI_ROLL_SHARE = 9,  /* 1 / the larger eigenvalue of the tangential block */
  TBI_ROLL_LEVER = 10, /* m, torsional and rolling: with it, turning is measured as the point's
                          velocity is */
  TBI_ROLL_SIZE = 12,
};

/* Numbers of the record of a bundle. */
enum {
  TBI_BUNDLE_CENTRE = 0,   /* from the origin of the tree */
  TBI_BUNDLE_RESPONSE = 3, /* factor of the body's 6x6 response there: 21 */
  TBI_BUNDLE_POINTS = 24,  /* factor of A A': 21 */
  TBI_BUNDLE_SOUND = 45,   /* mask of lanes in which there are both */
  TBI_BUNDLE_ABSENT = 46,  /* mask of lanes that do not touch there */
  TBI_BUNDLE_WHOLE = 47,   /* the response itself: 21 */
  TBI_BUNDLE_SIZE = 68,
};

/* Active points of one shape on a plane or a patch, which follow one another in the list of active
 * slots. */
typedef struct tbi_lane_bundle {
  int32_t body; /* plan's */
  bool foot;    /* one of those that are solved together */
  int32_t first, count;
  int64_t column; /* in bundle_column, in vectors of six */
  double *record;
} tbi_lane_bundle;

/* Numbers of a segment at its place in the world. */
enum {
  TBI_SEGMENT_END = 0,
  TBI_SEGMENT_ALONG = 3,
  TBI_SEGMENT_MIDDLE = 6,
  TBI_SEGMENT_MARGIN = 9,
  TBI_SEGMENT_SIZE = 10,
};

/* Numbers of what a step tells of itself. */
enum {
  TBI_TOLD_RESIDUAL, /* m/s, change of velocity in the last sweep */
  TBI_TOLD_OVERLAP,  /* m, the deepest at the start of the step */
  TBI_TOLD_CONTACTS, /* that push */
  TBI_TOLD_SWEEPS,
  TBI_TOLD_ATTEMPTS,
  TBI_TOLD_SIZE,
};

#define TBI_LANE_ARRAYS(X)                                                                         \
  /* the state */                                                                                  \
  X(q, p->nq)                                                                                      \
  X(v, p->nv)                                                                                      \
  X(saturated, p->nv)                          /* drives of joints at a limit: -1, 0, 1 */         \
  X(actuator_saturated, p->nactuator)          /* likewise */                                      \
  X(row, 3 * (int64_t)p->nv)                   /* N s: impulses of dry friction and both limits */ \
  X(doubt, p->nv)                              /* steps for which friction stays a row */          \
  X(impulse, 3 * (int64_t)p->nslot)            /* N s, in the frame of each slot */                \
  X(roll_impulse, 3 * (int64_t)p->nroll)       /* N m s, couples about the axes of each slot */    \
  X(mark, TBI_PATCH_SLOTS *(int64_t)p->npatch) /* which point each slot of a patch has */          \
  X(alive, 1)                                  /* mask of worlds that step */                      \
  /* what acts */                                                                                  \
  X(target, p->nv)                                                                                 \
  X(tau, p->nv)                                                                                    \
  X(control, p->nactuator)                                                                         \
  X(push, 6)                                                                                       \
  X(kp, p->nv)                                                                                     \
  X(kd, p->nv)                                                                                     \
  X(effort, p->nv)                                                                                 \
  X(gravity, 3)                                                                                    \
  X(friction, 1)                                                                                   \
  X(inertia, 10 * (int64_t)p->nbody)                                                               \
  /* what the step tells */                                                                        \
  X(told, TBI_TOLD_SIZE)                                                                           \
  X(failed, 1)      /* mask */                                                                     \
  X(applied, p->nv) /* N m or N, of all drives of a joint */                                       \
  X(change, p->nv)  /* of v in the step */                                                         \
  /* scratch */                                                                                    \
  X(sine, p->nq)                                                                                   \
  X(cosine, p->nq)                                                                                 \
  X(base, p->nv) /* joint impulses of springs, dampers and given forces */                         \
  X(base_diagonal, p->nv)                                                                          \
  X(drive, p->nv) /* N m or N, of actuators */                                                     \
  X(give, p->nv)  /* by which it falls as the joint gains speed */                                 \
  X(joint, p->nv) /* all joint impulses */                                                         \
  X(diagonal, p->nv)                                                                               \
  X(axis, 6 * (int64_t)p->nv)                                                                      \
  X(U, 6 * (int64_t)p->nv) /* IA S / sqrt(D) */                                                    \
  X(root, p->nv)           /* 1 / sqrt(D) */                                                       \
  X(z, p->nv)                                                                                      \
  X(v_new, p->nv)                                                                                  \
  X(mass, 10 * (int64_t)p->nbody) /* m, h, moment about the origin of the tree, world axes */      \
  X(force, 6 * (int64_t)p->nbody) /* bias and gravity, then impulses of these */                   \
  X(stack, 24 * ((int64_t)p->depth + 1))                                                           \
  X(gather, 27 * ((int64_t)p->depth + 1))                                                          \
  X(kept, 24 * (int64_t)p->nbody)   /* rot, pos, twist, acceleration of bodies that keep them */   \
  X(gain, 6 * (int64_t)p->nbody)    /* of their twists in the step */                              \
  X(push_on, 6 * (int64_t)p->nbody) /* impulses of contacts on bodies */                           \
  X(stick, p->nv)                   /* masks of joints with dry friction */                        \
  X(slip, p->nv)                                                                                   \
  X(segment, TBI_SEGMENT_SIZE *(int64_t)p->nsegment)                                               \
  X(origin, 3 * (int64_t)p->ntree)                                                                 \
  X(ground_margin, 1)                                                                              \
  X(column, 3 * p->ncolumn)                                                                        \
  X(roll_column, p->nroll > 0 ? 3 * p->ncolumn : 0)                                                \
  X(roll, TBI_ROLL_SIZE *(int64_t)p->nroll)                                                        \
  X(start_roll, 3 * (int64_t)p->nroll)                                                             \
  X(way_roll, 3 * (int64_t)p->nroll)                                                               \
  X(slot, TBI_SLOT_SIZE *(int64_t)p->nslot)                                                        \
  X(bundle, TBI_BUNDLE_SIZE *(int64_t)p->nbundle)                                                  \
  X(joint_matrix, 3 * TBI_FEET * (6 * TBI_FEET + 1))                                               \
  X(together, 1) /* mask of lanes in which all feet can be solved together */                      \
  X(rowed, 1)    /* masks of lanes with rows, and with contacts that are on no foot */             \
  X(touched, 1)  /* mask of lanes with contacts */                                                 \
  X(loose, 1)                                                                                      \
  X(bundle_column, 6 * p->nbundle_column)                                                          \
  X(row_column, p->nrow)                                                                           \
  X(row_w, 2 * (int64_t)p->nv) /* response, and 1 / it */                                          \
  X(start_z, p->nv)            /* where a sweep starts, as the two that follow */                  \
  X(start_impulse, 3 * (int64_t)p->nslot)                                                          \
  X(start_row, 3 * (int64_t)p->nv)                                                                 \
  X(way_z, p->nv) /* conjugate to the ways before, likewise */                                     \
  X(way_impulse, 3 * (int64_t)p->nslot)                                                            \
  X(way_row, 3 * (int64_t)p->nv)                                                                   \
  X(row_limit, 2 * (int64_t)p->nv) /* targets at the lower and the upper limit */                  \
  X(row_near, 2 * (int64_t)p->nv)  /* masks */                                                     \
  X(row_on, p->nv)                 /* mask of lanes that have the row */

typedef struct tbi_lane_work {
  const tbi_plan *plan;
  int32_t lanes;
  int32_t push_link;
  int32_t push_body; /* plan's, or TABI_NONE */
  double push_point[3];
#define DECLARE(name, count) double *name;
  TBI_LANE_ARRAYS(DECLARE)
#undef DECLARE
  int32_t nactive, nheld, nrows, nbundle;
  tbi_lane_bundle *bundles;      /* of this step: [plan's nbundle] */
  int32_t nfeet, feet[TBI_FEET]; /* bundles that are solved together */
  uint8_t *bundled;              /* whether the columns of a slot are made by its bundle: [nslot] */
  int32_t *near;                 /* standing shapes near some body, then near one: [2 nstand] */
  int32_t *active;               /* slots of this step, ascending: [nslot] */
  int32_t *held;                 /* slots with impulses of the step before: [nslot] */
  uint8_t *seen;                 /* [nslot] */
  int32_t *rows;                 /* velocities with rows: [nv] */
  uint8_t *limited;              /* of these: a limit is near in some lane: [nv] */
  int64_t *row_start;            /* of velocities, in row_column: [nv] */
} tbi_lane_work;

/* One step of all lanes whose bit is set in alive; sets failed for those that left the numbers a
 * state may have, which stay as they were. */
typedef void tbi_lane_step_fn(tbi_lane_work *w);
tbi_lane_step_fn tbi_lane_step_1;
tbi_lane_step_fn tbi_lane_step_2;
tbi_lane_step_fn tbi_lane_step_4;
tbi_lane_step_fn tbi_lane_step_8;

#endif
