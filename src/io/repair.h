/* repair.h - what files say that no robot can have, changed as little as needed.
 *
 * Readers of every format call these before they hand a link or joint to the builder, which
 * refuses what is impossible.  Each repair is told by tbi_repaired (report.h): a warning, or under
 * def->strict an error.  Numbers that are not finite and negative masses are left to the builder.
 *
 * `item` begins the message, "link 'foot'".  All return false after an error. */
#ifndef TBI_REPAIR_H
#define TBI_REPAIR_H

#include "io/first_error.h"
#include "tabi/tabi_io.h"

/* The nearest inertia (in the Frobenius norm) of a body about its centre of mass.  The six numbers
 * are those of tabi_link_def.  One that the builder accepts is not touched; a fault of the size of
 * rounding is mended in silence. */
bool tbi_repair_inertia(tbi_first_error *error, const tabi_load_def *def, tabi_place place,
                        const char *item, double mass, double inertia[6]);

/* Swaps limits whose lower one is above the upper one. */
bool tbi_repair_limits(tbi_first_error *error, const tabi_load_def *def, tabi_place place,
                       const char *item, double *lower, double *upper);

/* A damping, friction, stiffness or effort below zero, which would drive what it should hold,
 * becomes 0. */
bool tbi_repair_negative(tbi_first_error *error, const tabi_load_def *def, tabi_place place,
                         const char *item, const char *what, double *value);

/* A coefficient of friction that is beyond all that a model may have becomes the largest. */
bool tbi_repair_friction(tbi_first_error *error, const tabi_load_def *def, tabi_place place,
                         const char *item, double *friction);

/* A joint's quaternion of zero length becomes no rotation; for states, where it says only that
 * nobody filled it in. */
bool tbi_repair_quat(tbi_first_error *error, const tabi_load_def *def, tabi_place place,
                     const char *item, const char *joint, double quat[4]);

#endif
