/* lane_sense.h - what a lane step leaves for one of its worlds to read: what sensors read. */
#ifndef TBI_LANE_SENSE_H
#define TBI_LANE_SENSE_H

#include "batch/lane_work.h"

/* The values of all sensors, one after another, with the noise that the random numbers give; where
 * no step was made, those that look at the state, and zeros. */
void tbi_lane_sensors(const tbi_lane_work *w, int32_t lane, uint64_t random, bool stepped,
                      double *value);
/* How many numbers the delayed readings of a world take. */
int64_t tbi_lane_late(const tabi_model *model, double h);
/* Puts the readings of a step into their rings, at step 0 in all places, and takes the oldest. */
void tbi_lane_delay(const tbi_plan *p, int64_t step, double *ring, double *value);
/* Why lanes cannot read a sensor of the model, or NULL; heavy: masses of bodies vary. */
const char *tbi_lane_sensor_refusal(const tabi_model *model, const tabi_sensor_def *def,
                                    bool heavy);
/* Marks the bodies of a plan whose poses sensors and feet need. */
void tbi_lane_sense_plan(tbi_plan *p, const int32_t *foot, int32_t nfoot);

#endif
