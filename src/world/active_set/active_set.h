/* active_set.h - predict and verify: constraints that a step need not solve for.
 *
 *   joint_friction.c  joints with dry friction that stick or slip
 *   joint_limits.c    joint limits that are not reached
 *   drive_limits.c    servos and actuators at their limits of force
 *   depth_correction.c: targets that a mechanism cannot give
 *   rows.c            the rows of the problem for all others
 *   active_set.c      the loop: predict, solve, verify, and again
 *
 * docs/active_set.md derives it.  Contacts that stick are predicted and verified within one
 * solution, by the method itself (solve_direct in contact/formulation.h). */
#ifndef TBI_ACTIVE_SET_H
#define TBI_ACTIVE_SET_H

#include "world/world.h"

#define TBI_NEAR_LIMIT 1e-4 /* rad or m: joint limits that get rows at once */

/* state -> active_set.friction */
void tbi_predict_joint_friction(tabi_world *w);
/* state.v, active_set.friction, forces.joint_impulse -> active_set.stuck, .stops,
 * .friction_impulse, and free.u before elimination */
void tbi_apply_joint_friction(tabi_world *w);
/* Stuck joints lose the velocity, within the tolerance, that they still had: its momentum is added
 * to d->flow.  Overwrites d->force. */
void tbi_stop_stuck_joints(tabi_world *w);
/* Whether solution.v_new and all impulses agree with the prediction.  If so stuck joints stop and
 * friction_impulse holds what each needs; if not, active_set.friction has rows for those that
 * failed, after too many attempts for all. */
bool tbi_verify_joint_friction(tabi_world *w, int attempt);
/* active_set -> state.row_steps, and state.row_impulse of joints without rows: what the next step
 * predicts from */
void tbi_keep_joint_friction(tabi_world *w);

/* Which limits may be reached: those within `near` and two steps at the speed before or that of v.
 * state, v -> active_set.limited */
void tbi_predict_joint_limits(tabi_world *w, const double *v, double near);
/* Whether solution.v_new reaches no others; if it does, these are added. */
bool tbi_verify_joint_limits(tabi_world *w);

enum {
  TBI_DRIVE_ATTEMPTS = 64, /* after which drives at their limits stay there */
};
/* state.saturated -> active_set.saturated */
void tbi_predict_drive_limits(tabi_world *w);
/* Whether solution.v_new leaves all drives on the predicted sides of their limits:
 * solution.commanded and .applied.  If not, active_set.saturated, forces and forces.joint_impulse
 * are corrected. */
bool tbi_verify_drive_limits(tabi_world *w, const double *tau, int attempt);
/* active_set.saturated -> state.saturated */
void tbi_keep_drive_limits(tabi_world *w);

/* setup.problem -> the impulses of its points and rows, from where they stand */
tbi_solution tbi_solve_contacts(tabi_world *w);
/* Where a mechanism could part what overlaps only by huge impulses, reduces the targets of its
 * points and solves again. */
void tbi_limit_depth_correction(tabi_world *w, tbi_solution *solution);

/* active_set -> setup.problem.row */
void tbi_make_rows(tabi_world *w);
/* setup.problem.row, active_set -> state.row_impulse, state.row_steps */
void tbi_keep_rows(tabi_world *w);

#endif
