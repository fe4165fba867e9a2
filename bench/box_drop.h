/* box_drop.h - a tilted cube falls on a floor of springs: the largest time step at which each
 * integrator succeeds.  (P2, Table 1.)  The same scene as scenes/box_drop.yaml. */
#ifndef TBI_BENCH_BOX_DROP_H
#define TBI_BENCH_BOX_DROP_H

#include "tabi/tabi.h"

typedef struct tbi_drop_method {
  const char *name;
  tabi_contact_kind contact;
  tabi_integrator integrator;
} tbi_drop_method;

enum { TBI_DROP_METHODS = 4, TBI_DROP_STEPS = 18 };
extern const tbi_drop_method tbi_drop_methods[TBI_DROP_METHODS];
extern const double tbi_drop_grid[TBI_DROP_STEPS]; /* s */
extern const double tbi_drop_duration;             /* s */

typedef enum tbi_drop_outcome {
  TBI_DROP_GOOD,      /* at the end within 2 mm of its height, slower than 0.02 m/s, and its kinetic
                         and potential energy was never above 1.02 of that at the start */
  TBI_DROP_UNNATURAL, /* finished, but not good */
  TBI_DROP_DIVERGED,  /* ten times its energy, or not finite */
  TBI_DROP_FAILED,    /* no memory */
} tbi_drop_outcome;

tabi_model *tbi_drop_model(tabi_error *err);
/* A world at the start of the drop; NULL: no memory. */
tabi_world *tbi_drop_open(const tabi_model *model, const tbi_drop_method *method, double timestep);
/* A whole drop; depth: the largest penetration, m. */
tbi_drop_outcome tbi_drop_run(const tabi_model *model, const tbi_drop_method *method,
                              double timestep, double *depth);

#endif
