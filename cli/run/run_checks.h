/* run_checks.h - what a run should not have done: overlaps, energy from nowhere, contact laws that
 * were missed.  The scene's section `check` bounds each; what is beyond its bound is a warning at
 * the end of the run, and with --check its exit code. */
#ifndef TBI_RUN_CHECKS_H
#define TBI_RUN_CHECKS_H

#include "common/cli.h"
#include "tabi/tabi_record.h"

/* The worst so far, and when. */
typedef struct tbi_worst {
  double value, time;
} tbi_worst;

typedef struct tbi_run_checks {
  tabi_scene_check bound;
  tbi_worst penetration; /* m, at the start of any step after the first */
  tbi_worst gain;        /* J, above the lowest energy before */
  tbi_worst residual;    /* m/s */
  int32_t link[2];       /* that overlap most */
  double lowest;       /* J, energy without the work of drives and with that of elastic contacts */
  double kinetic;      /* J, most so far */
  double stored[2];    /* J, least and most of potential energy and springs */
  double least_range;  /* J, what lifts everything by a millimetre */
  double contact_gain; /* J, sum of what contact impulses added in steps */
  double correction_work;              /* J, of depth corrections */
  double balance_taken, balance_given; /* J, by which velocities were scaled */
} tbi_run_checks;

/* In the initial state. */
void tbi_run_checks_begin(tbi_run_checks *checks, const tabi_scene *scene, tabi_world *world);
/* After every step; steps: how many there were. */
void tbi_run_checks_step(tbi_run_checks *checks, const tabi_world *world, const tabi_sample *sample,
                         int64_t steps);
/* A method with an energy balance of its own replaces the gain. */
void tbi_run_checks_set_gain(tbi_run_checks *checks, double gain);

/* The gain as a share of the range of the energy. */
double tbi_run_checks_gain(const tbi_run_checks *checks);
bool tbi_run_checks_ok(const tbi_run_checks *checks);
/* {penetration, energy_gain, residual, ok, bounds} */
json_t *tbi_run_checks_json(const tbi_run_checks *checks);
/* Adds a warning for each bound that was exceeded; path: of the scene. */
void tbi_run_checks_find(const tbi_run_checks *checks, const tabi_scene *scene, const char *path,
                         tbi_findings *findings);

#endif
