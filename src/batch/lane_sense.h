/* lane_sense.h - what a lane step leaves for one of its worlds to read: forces on feet, sensors. */
#ifndef TBI_LANE_SENSE_H
#define TBI_LANE_SENSE_H

#include "batch/lane_work.h"

/* Force and torque of all contacts on a link, about its origin, world axes, mean over the step. */
void tbi_lane_foot(const tbi_lane_work *w, int32_t link, int32_t lane, double six[6]);
/* The values of all sensors, one after another, with the noise that the random numbers give. */
void tbi_lane_sensors(const tbi_lane_work *w, int32_t lane, uint64_t random, double *value);
/* Why lanes cannot read a sensor of the model, or NULL. */
const char *tbi_lane_sensor_refusal(const tabi_sensor_def *def);
/* Marks the bodies of a plan whose poses sensors and feet need. */
void tbi_lane_sense_plan(tbi_plan *p, const int32_t *foot, int32_t nfoot);

#endif
