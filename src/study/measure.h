/* measure.h - what a study keeps of a run: one number for each measure.
 *
 *   fell: fell                                    by its name
 *   height: {signal: com.z, statistic: min}       of a signal: min, max, mean, rms, last
 *   low: {when: "com.z < 0.4"}                    the first time at which a condition holds, s */
#ifndef TBI_MEASURE_H
#define TBI_MEASURE_H

#include "base/text.h"
#include "io/fields.h"
#include "tabi/tabi_record.h"

#define TBI_FALL_EVERY 10 /* steps between two looks whether a robot has fallen */

typedef enum tbi_measure_kind {
  TBI_MEASURE_FELL,      /* 1 or 0 at the end */
  TBI_MEASURE_FALL_TIME, /* s, since when it lies at the end */
  TBI_MEASURE_SLIP,      /* m that the link which slid farthest slid */
  TBI_MEASURE_TORQUE,    /* N m or N, largest of any motor in any step */
  TBI_MEASURE_GAIN,      /* energy from nowhere, as a share of the range of the energy */
  TBI_MEASURE_SIGNAL,    /* a statistic of one */
  TBI_MEASURE_WHEN,      /* the first time at which one is below or above a bound */
} tbi_measure_kind;

typedef enum tbi_statistic {
  TBI_STATISTIC_MIN,
  TBI_STATISTIC_MAX,
  TBI_STATISTIC_MEAN,
  TBI_STATISTIC_RMS,
  TBI_STATISTIC_LAST,
  TBI_STATISTIC_COUNT,
} tbi_statistic;

typedef struct tbi_measure {
  const char *name;
  tbi_measure_kind kind;
  tbi_statistic statistic;
  const char *signal; /* its name, or NULL */
  bool above;         /* of a condition: greater, not less */
  double bound;
  tabi_place place;
} tbi_measure;

bool tbi_measure_read(tbi_first_error *error, tbi_text_pool *pool, const tbi_yaml_node *node,
                      tbi_measure *measure);

/* The measures of one run. */
typedef struct tbi_measuring tbi_measuring;

/* The world is in the initial state of the scene.  NULL after an error, as a signal that the scene
 * does not have. */
tbi_measuring *tbi_measuring_create(const tbi_measure *measure, int32_t count, tabi_scene *scene,
                                    tabi_world *world, tabi_error *err);
void tbi_measuring_destroy(tbi_measuring *measuring); /* NULL is fine */
/* Whether a robot lies.  Rays look for the ground: not for every step. */
bool tbi_measuring_fell(const tbi_measuring *measuring);
/* Whether the state of the world, and not only its time, counts in tbi_measuring_step now. */
bool tbi_measuring_looks(const tbi_measuring *measuring);
/* After every step. */
void tbi_measuring_step(tbi_measuring *measuring);
/* value[count] at the end; NAN where there is none. */
void tbi_measuring_end(tbi_measuring *measuring, double *value);

#endif
