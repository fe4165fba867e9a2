/* walk_run.h - one run of `tabi walk`, and what was measured. */
#ifndef TBI_WALK_RUN_H
#define TBI_WALK_RUN_H

#include "common/cli.h"

#include "tabi/tabi_control.h"

typedef struct tbi_walk_run {
  const char *status; /* "ok", or how it ended early */
  int32_t steps_planned, steps_done;
  bool fell, limits_kept;
  double distance;         /* m, of the centre of mass */
  int32_t peak_joint;      /* that came nearest to its limit, or TABI_NONE */
  double peak, peak_limit; /* N m */
  double saturated;        /* share of updates that asked more than a limit */
  int32_t fast_joint;      /* whose velocity was beyond its limit, or TABI_NONE */
  double slip, zmp_error;  /* m */
  double realtime;
} tbi_walk_run;

/* Runs a scene to its end and writes its replay to html, unless that is NULL; an exit code. */
int tbi_walk_run_scene(tabi_scene *scene, const tabi_biped *biped, int32_t steps, const char *html,
                       tbi_walk_run *run);

#endif
