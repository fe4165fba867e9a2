/* state.h - the state file of `tabi dynamics`. */
#ifndef TBI_STATE_H
#define TBI_STATE_H

#include "common/cli.h"

typedef struct tbi_state {
  const char *path; /* as messages name it */
  char *text;
  json_t *root; /* NULL: nothing was given, all is zero */
  bool has_pos, has_quat;
  double pos[3], quat[4], lin[3], ang[3]; /* of the base */
} tbi_state;

/* Reads a file, or stdin for "-"; NULL gives the zero state.  Checks all that does not depend on a
 * model. */
bool tbi_state_read(tbi_state *state, const char *path, tabi_error *err);
/* Fills q[nq], v[nv] and tau[nv] by name. */
bool tbi_state_apply(const tbi_state *state, const tabi_model *model, double *q, double *v,
                     double *tau, tabi_error *err);
void tbi_state_free(tbi_state *state);

#endif
