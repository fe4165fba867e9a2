/* slip_ledger.h - the ledger of slip of a run: contact time, slip distance and dissipated energy by
 * link. */
#ifndef TBI_SLIP_LEDGER_H
#define TBI_SLIP_LEDGER_H

#include "common/cli.h"

#include "tabi/tabi_record.h"

typedef struct tbi_slip_ledger {
  const tabi_scene *scene;
  tabi_ledger *ledger;
  bool no_memory;
} tbi_slip_ledger;

bool tbi_slip_ledger_begin(tbi_slip_ledger *slip, const tabi_scene *scene);
void tbi_slip_ledger_free(tbi_slip_ledger *slip);
/* After every step. */
void tbi_slip_ledger_step(tbi_slip_ledger *slip, const tabi_sample *sample);

/* A table of the robots' links that touched something, or of bodies where there is no robot. */
void tbi_slip_ledger_print(const tbi_slip_ledger *slip, FILE *out);
/* All links that touched something; the intervals of those of robots. */
json_t *tbi_slip_ledger_json(const tbi_slip_ledger *slip);

#endif
