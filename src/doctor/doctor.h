/* doctor.h - the model doctor: what is possible, but hardly meant.
 *
 * The builder refuses what cannot be simulated.  Here are the mistakes it must let pass: a
 * placeholder for an inertia, grams for kilograms, degrees for radians, a missing limit.  Each
 * check is one function in a table, and each finding names the item, the number and the cure.
 *
 *   doctor.c               tabi_model_check: all checks, one after another
 *   check_links.c          masses, inertias, centres of mass, left against right
 *   check_joints.c         ranges, motors, ratios of masses and inertias, limbs without shapes
 *   check_initial_state.c  open connections, and links that overlap (overlap.c)
 *   link_pairs.c           tabi_model_link_pairs: which links of a robot can meet
 *   place.c                tabi_model_find_rise: how far a robot is from standing */
#ifndef TBI_DOCTOR_H
#define TBI_DOCTOR_H

#include "tabi/tabi.h"

typedef struct tbi_doctor {
  const tabi_model *model;
  tabi_warning_fn *report;
  void *user;
  int32_t count;
  bool collides;           /* some shape of the model does */
  int32_t unlimited;       /* joints without effort limit or actuator, */
  int32_t first_unlimited; /* and the first of them */
} tbi_doctor;

#define TBI_PROBLEM TABI_ERR_MODEL /* will spoil a simulation */
#define TBI_ADVICE  TABI_OK

/* Counts a finding and reports it. */
void tbi_doctor_find(tbi_doctor *d, tabi_status severity, tabi_place place, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* A name for messages. */
static inline const char *tbi_doctor_shown(const char *name) { return name ? name : "(unnamed)"; }

/* All checks of one link, of one moving joint, and of the initial state as a whole. */
void tbi_doctor_check_link(tbi_doctor *d, int32_t i);
void tbi_doctor_check_joint(tbi_doctor *d, int32_t j);
void tbi_doctor_tell_unlimited(tbi_doctor *d); /* after all joints */
void tbi_doctor_check_connections(tbi_doctor *d);
void tbi_doctor_check_overlaps(tbi_doctor *d);

#endif
