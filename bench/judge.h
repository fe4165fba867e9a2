/* judge.h - how wrong an engine is in scenes whose answer is known; computed for all engines alike
 * from the poses and velocities that they report. */
#ifndef TBI_BENCH_JUDGE_H
#define TBI_BENCH_JUDGE_H

#include "duel.h"

/* Kinetic energy, and with that of gravity, J. */
double tbi_judge_kinetic(const tbi_plain *plain, const tbi_plain_state *state);
double tbi_judge_energy(const tbi_plain *plain, const tbi_plain_state *state);
/* How far the two ends of a hinge or a tie have parted, m, the worst. */
double tbi_judge_gap(const tbi_plain *plain, const tbi_plain_state *state);
/* The fastest com, m/s. */
double tbi_judge_speed(const tbi_plain *plain, const tbi_plain_state *state);

typedef struct tbi_judgement {
  double error;   /* NAN: the engine failed, or took too long */
  double energy;  /* gained or lost, as a part of the kinetic; NAN: not asked for */
  double seconds; /* of CPU time for one step */
  double contacts;
  int32_t steps; /* made */
} tbi_judgement;

/* Runs a contender from its start for `steps` steps.  `state` has room for all bodies. */
typedef tbi_judgement tbi_judge(tbi_contender *c, int32_t steps, tbi_plain_state *state);

/* m/s: how far the first body moves, after half a second, each second. */
tbi_judge tbi_judge_creep;
/* m^2/s^2: mean square error of the velocities of plate and first ball (SimBenchmark's rolling). */
tbi_judge tbi_judge_rolling;
/* J^2: mean of (E - E0)^2 (bouncing). */
tbi_judge tbi_judge_bouncing;
/* m^2: mean of the sum of squares of overlaps (666). */
tbi_judge tbi_judge_depths;
/* (kg m/s)^2: mean square of what the momentum has gained (momentum). */
tbi_judge tbi_judge_momentum;
/* m: the widest gap of a joint or tie. */
tbi_judge tbi_judge_loops;
/* J^2: mean of (E - E0)^2 after a third of the time with twice the weight pulling up (energy). */
tbi_judge tbi_judge_flight;

#endif
