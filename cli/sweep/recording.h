/* recording.h - columns of recordings that are no CSV tables: MCAP and HDF5. */
#ifndef TBI_CLI_RECORDING_H
#define TBI_CLI_RECORDING_H

#include "tabi/tabi_study.h"

/* A tabi_column_reader. */
tabi_status tbi_recording_column(void *user, const char *path, const char *name,
                                 tabi_column *column, tabi_error *err);

#endif
