/* team.h - threads that wait for work and do it together. */
#ifndef TBI_TEAM_H
#define TBI_TEAM_H

#include <stdint.h>

typedef struct tbi_team tbi_team;

/* Part `part` of a work, by thread `thread`. */
typedef void tbi_team_fn(void *work, int32_t thread, int32_t part);

/* threads >= 1, the caller's included; NULL: no memory, or no threads. */
tbi_team *tbi_team_create(int32_t threads);
void tbi_team_destroy(tbi_team *team);
/* All parts, each by whichever thread is free; returns when all are done. */
void tbi_team_run(tbi_team *team, tbi_team_fn *run, void *work, int32_t parts);

#endif
