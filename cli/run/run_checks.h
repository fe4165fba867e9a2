/* run_checks.h - what a run should not have done: overlaps, energy from nowhere, contact laws that
 * were missed.  The scene's section `check` bounds each; what is beyond its bound is a warning at
 * the end of the run, and with --check its exit code. */
#ifndef TBI_RUN_CHECKS_H
#define TBI_RUN_CHECKS_H

#include "common/cli.h"
#include "tabi/tabi_record.h"

bool tbi_run_checks_ok(const tabi_run_checks *checks);
/* {penetration, energy_gain, residual, ok, bounds} */
json_t *tbi_run_checks_json(const tabi_run_checks *checks);
/* Adds a warning for each bound that was exceeded; path: of the scene. */
void tbi_run_checks_find(const tabi_run_checks *checks, const tabi_scene *scene, const char *path,
                         tbi_findings *findings);

#endif
