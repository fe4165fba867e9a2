/* accuracy.h - errors of an engine in scenes with a known solution; computed for all engines
 * alike from the poses and velocities that they report. */
#ifndef TBI_BENCH_ACCURACY_H
#define TBI_BENCH_ACCURACY_H

#include "engine_run.h"

/* Kinetic energy, and with that of gravity, J. */
double tbi_accuracy_kinetic_energy(const tbi_neutral_scene *neutral,
                                   const tbi_neutral_state *state);
double tbi_accuracy_energy(const tbi_neutral_scene *neutral, const tbi_neutral_state *state);
/* The largest gap between the two ends of a hinge or a connection, m. */
double tbi_accuracy_joint_gap(const tbi_neutral_scene *neutral, const tbi_neutral_state *state);
/* The fastest com, m/s. */
double tbi_accuracy_speed(const tbi_neutral_scene *neutral, const tbi_neutral_state *state);

typedef struct tbi_accuracy {
  double error;   /* NAN: the engine failed, or took too long */
  double energy;  /* energy error over kinetic energy; NAN: not measured */
  double seconds; /* of CPU time for one step */
  double contacts;
  int32_t steps; /* made */
} tbi_accuracy;

/* Runs an engine from the start of its scene for `steps` steps.  `state` has room for all bodies.
 */
typedef tbi_accuracy tbi_accuracy_test(tbi_engine_run *c, int32_t steps, tbi_neutral_state *state);

/* m/s: speed of the first body after half a second. */
tbi_accuracy_test tbi_accuracy_creep;
/* m^2/s^2: mean square error of the velocities of plate and first ball (SimBenchmark's rolling). */
tbi_accuracy_test tbi_accuracy_rolling;
/* J^2: mean of (E - E0)^2 (bouncing). */
tbi_accuracy_test tbi_accuracy_bouncing;
/* m^2: mean of the sum of squares of penetrations (666). */
tbi_accuracy_test tbi_accuracy_depths;
/* (kg m/s)^2: mean square of what the momentum has gained (momentum). */
tbi_accuracy_test tbi_accuracy_momentum;
/* m: the widest gap of a joint or connection. */
tbi_accuracy_test tbi_accuracy_loops;
/* J^2: mean of (E - E0)^2 after a third of the time with twice the weight pulling up (energy). */
tbi_accuracy_test tbi_accuracy_flight;

#endif
