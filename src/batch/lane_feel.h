/* lane_feel.h - forces of a step of one world of a group: on feet, and as sensors feel them. */
#ifndef TBI_LANE_FEEL_H
#define TBI_LANE_FEEL_H

#include "batch/lane_work.h"

/* Force and torque of all contacts on a link, about its origin, world axes, mean over the step. */
void tbi_lane_foot(const tbi_lane_work *w, int32_t link, int32_t lane, double six[6]);
/* The true values of sensors of these types. */
void tbi_lane_feel_joint(const tbi_lane_work *w, const tabi_sensor_def *def, int32_t lane,
                         double *value);
void tbi_lane_feel_contact(const tbi_lane_work *w, int32_t link, int32_t lane, double *value);
void tbi_lane_feel_pressure(const tbi_lane_work *w, const tabi_sensor_def *def, int32_t lane,
                            double *value);
void tbi_lane_feel_zmp(const tbi_lane_work *w, int32_t link, int32_t lane, double *value);
/* Marks the bodies that hang on a link, whose accelerations a sensor at its joint needs. */
void tbi_lane_feel_plan(tbi_plan *p, int32_t link);
/* Whether a joint is inside a body, whose parts have the masses of the model. */
bool tbi_lane_feels_inside(const tabi_model *model, int32_t joint);

#endif
