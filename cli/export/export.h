/* export.h - samples of a log as files of other programs: one writer for each format. */
#ifndef TBI_EXPORT_H
#define TBI_EXPORT_H

#include "common/output.h"
#include "tabi/tabi_record.h"

/* What writers need to know. */
typedef struct tbi_export {
  const tabi_scene *scene;
  tabi_recording_info info;
  const tabi_signals *signals;
  const int32_t *chosen; /* indexes of the signals to write, without time */
  int32_t nchosen;
  tbi_output *output;
} tbi_export;

/* Functions that return false or NULL have printed why, unless output->error says it. */
typedef struct tbi_export_format {
  const char *name;
  const char *endings[2]; /* of files, with the dot; the second may be NULL */
  const char *signals;    /* which are written if none are chosen, separated by commas */
  bool stream;            /* writes to the open output; otherwise it opens output->part itself */
  void *(*open)(const tbi_export *export);
  bool (*sample)(void *writer, const tabi_sample *sample, const double *value); /* of all signals */
  bool (*finish)(void *writer);
  void (*close)(void *writer); /* after an error too */
} tbi_export_format;

extern const tbi_export_format tbi_export_csv, tbi_export_hdf5, tbi_export_mcap;

/* "0.1.0", of the version that wrote a log. */
const char *tbi_export_version(const tabi_recording_info *info, char text[32]);

#endif
