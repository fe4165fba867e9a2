/* sensors.h - what the sensors of a model read in a world.
 *
 *   sensor_truth.c   what there is to measure: forces and accelerations of a step, the state
 *   sensors.c        what comes out: noise, rounding, range and delay, and the memory for it
 */
#ifndef TBI_SENSORS_H
#define TBI_SENSORS_H

#include "base/layout.h"
#include "model/model.h"

/* The forces of contacts on a link or tree. */
typedef struct tbi_push {
  sv wrench;     /* of contacts with other trees and the world, about the origin of its tree */
  double normal; /* N, sum of the normal forces of all contacts */
  double height; /* N m: sum of vertical forces times the heights at which they act */
} tbi_push;

/* A sensor where it sits. */
typedef struct tbi_sensor_site {
  int32_t link, body; /* that it moves with; for a force-torque sensor the joint's child */
  tbi_frame mount;    /* its frame in the body's */
  int32_t size;       /* numbers in a reading */
  bool plain;         /* no noise, resolution or range: readings are the true values */
} tbi_sensor_site;

/* How the wrench that accelerates a link is found, for force-torque sensors between it and the root
 * of its tree. */
typedef enum tbi_feeling {
  TBI_FELT_NOT,  /* no such sensor */
  TBI_FELT_LINK, /* from its own mass and inertia */
  TBI_FELT_BODY, /* from those of its whole body, of which it is the first link */
  TBI_FELT_PART, /* its first link has it already */
} tbi_feeling;

typedef struct tbi_sensors {
  /* part of the state */
  uint64_t *random; /* one generator each: [nsensor] */
  double *line;     /* delayed readings, a ring for each sensor */
  sv *external;     /* wrench on each link in the next step, if some sensor feels forces: [nlink] */

  /* made once */
  tbi_sensor_site *site; /* [nsensor] */
  int64_t *line_start;   /* where its ring starts in line: [nsensor] */
  int32_t *line_length;  /* readings in a ring: [nsensor] */
  bool feels_forces;     /* there is a force-torque sensor */
  bool feels_contacts;   /* there is a contact, pressure-centre or ZMP sensor */
  tbi_feeling *feeling;  /* [nlink] and the world */
  int32_t *felt;         /* links behind joints with sensors, parents first: [nfelt] */
  int32_t *body;         /* bodies whose acceleration is needed, parents first: [nbody] */
  int32_t nfelt, nbody;

  /* of a step; entry TABI_WORLD of links and trees is the world itself */
  double *truth;              /* true values: [TABI_SENSOR_MAX * nsensor] */
  sv *load;                   /* wrench that a felt link gets through the joint above it: [nlink] */
  tbi_push *push, *tree_push; /* if feels_contacts: [nlink], [ntree] */
} tbi_sensors;

/* The entry of a sensor's ring that a step writes; the one after it is the oldest. */
static inline double *tbi_sensor_entry(const tbi_sensors *s, int32_t sensor, int64_t step) {
  int64_t length = s->line_length[sensor];
  int64_t at = length > 1 ? step % length : 0;
  return s->line + s->line_start[sensor] + at * s->site[sensor].size;
}

/* Whether the delays of a model fit the time step of a world. */
tabi_status tbi_sensors_check(const tabi_model *model, const tabi_world_def *def, tabi_error *err);
/* Place the part that belongs to the state, and the remaining arrays. */
void tbi_sensors_place_state(tbi_layout *at, tabi_world *w);
void tbi_sensors_place(tbi_layout *at, tabi_world *w);
/* Generators by the seed of the world, and first readings. */
void tbi_sensors_start(tabi_world *w);
/* The state was set from outside: readings of it fill the lines, and no forces are known. */
void tbi_sensors_refill(tabi_world *w);
/* Forces and accelerations, before the result of a step replaces the state; then, once it has, what
 * depends on the new state, and the readings. */
void tbi_sensors_measure(tabi_world *w);
void tbi_sensors_read(tabi_world *w);

/* The true values of sensors that look at the step, or at the state, into sensors.truth. */
void tbi_truth_of_step(tabi_world *w);
void tbi_truth_of_state(tabi_world *w);

#endif
