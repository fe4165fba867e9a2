/* run.h - one run of a study under way: its scene, a world of it, what is kept. */
#ifndef TBI_RUN_H
#define TBI_RUN_H

#include "study/study.h"

typedef struct tbi_trial {
  tabi_scene *scene;
  tabi_world *world;
  tbi_measuring *measuring;
  tabi_recorder *recorder; /* or NULL */
} tbi_trial;

/* In its initial state; what was made is the caller's to end, also after an error. */
bool tbi_trial_begin(const tabi_study *study, int64_t run, const char *log, tbi_trial *t,
                     tabi_error *err);
void tbi_trial_end(tbi_trial *t, tabi_error *err);
int64_t tbi_trial_steps(const tbi_trial *t); /* that it takes */
/* Status, measures, hash; it has begun at `start`. */
void tbi_trial_tell(const tbi_trial *t, tabi_status status, double start, tabi_study_row *row);
/* Whether a run failed to begin because the scene refuses its parameters; its row is then this. */
bool tbi_run_is_refused(const tabi_error *failed);
void tbi_run_refuse(const tabi_study *study, double start, tabi_study_row *row);
double tbi_run_clock(void); /* s */

#endif
