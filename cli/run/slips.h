/* slips.h - how long the feet of a run stood, and how far they slipped. */
#ifndef TBI_SLIPS_H
#define TBI_SLIPS_H

#include "common/cli.h"

#include "tabi/tabi_record.h"

typedef struct tbi_slips {
  const tabi_scene *scene;
  tabi_ledger *ledger;
  bool no_memory;
} tbi_slips;

bool tbi_slips_begin(tbi_slips *slips, const tabi_scene *scene);
void tbi_slips_free(tbi_slips *slips);
/* After every step. */
void tbi_slips_step(tbi_slips *slips, const tabi_sample *sample);

/* A table of the robots' links that touched something, or of bodies where there is no robot. */
void tbi_slips_print(const tbi_slips *slips, FILE *out);
/* All links that touched something; the intervals of those of robots. */
json_t *tbi_slips_json(const tbi_slips *slips);

#endif
