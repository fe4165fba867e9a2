/* try_run.h - one run of `tabi try`, under one contact method. */
#ifndef TBI_TRY_RUN_H
#define TBI_TRY_RUN_H

#include "common/cli.h"

typedef struct tbi_try_run {
  const char *contact;
  bool floats;                     /* its base is free; set before the run, as the next */
  double open;                     /* m or rad, of a connection at the start */
  const char *status;              /* "ok", or how it ended early */
  bool stands;                     /* or, with a fixed base, holds still */
  char why[300];                   /* it does not */
  double height_start, height_end; /* m, of the centre of mass above the ground */
  double tilt;                     /* deg, of the base against its start */
  double slip;                     /* m, of the link that slipped farthest */
  double penetration, energy_gain;
  double us_per_step;
  int32_t torque_joint;              /* that came nearest to its limit of force, or TABI_NONE */
  double torque_value, torque_limit; /* N m or N */
  char torque_name[100];             /* of that joint */
} tbi_try_run;

/* Runs a scene to its end and writes its replay to html, unless that is NULL; an exit code. */
int tbi_try_run_scene(tabi_scene *scene, const char *html, tbi_try_run *run);

json_t *tbi_try_run_json(const tbi_try_run *run);

#endif
