/* mcap.h - writes MCAP files, a container of messages on topics (docs/export.md): chunks that are
 * compressed where zstd is there, with indexes, a summary and checksums.  It only appends, and
 * holds one chunk and an index entry for each earlier one in memory. */
#ifndef TBI_MCAP_H
#define TBI_MCAP_H

#include "common/output.h"
#include "export/bytes.h"

typedef struct tbi_mcap tbi_mcap;

typedef struct tbi_mcap_entry {
  const char *key, *value;
} tbi_mcap_entry;

/* NULL without memory.  The output must outlive it. */
tbi_mcap *tbi_mcap_create(tbi_output *output, const char *profile);
void tbi_mcap_destroy(tbi_mcap *mcap); /* NULL is fine */

/* Facts about the file; before the first message. */
void tbi_mcap_put_metadata(tbi_mcap *mcap, const char *name, const tbi_mcap_entry *entry,
                           int count);
/* Numbers from 1; 0 if there are too many or memory ran out. */
uint16_t tbi_mcap_add_schema(tbi_mcap *mcap, const char *name, const char *encoding,
                             const char *text);
uint16_t tbi_mcap_add_channel(tbi_mcap *mcap, uint16_t schema, const char *topic,
                              const char *encoding, const tbi_mcap_entry *entry);
void tbi_mcap_put_message(tbi_mcap *mcap, uint16_t channel, uint64_t time, const tbi_bytes *data);
/* Writes what is left and the summary.  False if memory ran out. */
bool tbi_mcap_finish(tbi_mcap *mcap);

#endif
