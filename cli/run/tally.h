/* tally.h - what `tabi run` counts while a world steps. */
#ifndef TBI_TALLY_H
#define TBI_TALLY_H

#include "common/cli.h"
#include "common/fall.h"
#include "run/gait.h"
#include "run/slips.h"

typedef struct tbi_tally {
  const tabi_scene *scene;
  tabi_world *world;
  int64_t steps;
  double from;    /* s, when the world had its first step; 0 but for resumed runs */
  double seconds; /* of control and steps */
  double contacts, iterations;
  int32_t contacts_max;
  double penetration_max;                       /* m, at the start of any step after the first */
  tabi_certificate worst;                       /* of each */
  int64_t stalled;                              /* steps that did not reach the tolerance */
  int64_t handed_over;                          /* steps that went on with exact */
  double energy_start, energy_end, energy_gain; /* J */
  double loop_gap, loop_turn;                   /* m and rad, of connections */
  double loop_missed;                           /* m/s or rad/s, where they contradict */
  tbi_gait_tally gait;
  tabi_observer *observer;
  const tabi_sample *sample; /* of the last step */
  tbi_slips slips;
  tbi_fall fall;
} tbi_tally;

/* The world stands at its start. */
bool tbi_tally_begin(tbi_tally *tally, const tabi_scene *scene, tabi_world *world);
void tbi_tally_free(tbi_tally *tally);
/* After every step. */
void tbi_tally_step(tbi_tally *tally);

/* Whether a robot lies or its walk is over. */
bool tbi_tally_fell(const tbi_tally *tally);

void tbi_tally_print(const tbi_tally *tally, FILE *out);
int tbi_tally_print_json(const tbi_tally *tally, const char *path, FILE *out);

/* Connections: after every step, at the end, and what contradicts at the end (loops.c). */
void tbi_loops_step(tbi_tally *tally);
void tbi_loops_print(const tbi_tally *tally, FILE *out);
json_t *tbi_loops_json(const tbi_tally *tally);
void tbi_loops_warn(const tbi_tally *tally);

#endif
