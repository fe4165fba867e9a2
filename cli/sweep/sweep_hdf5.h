/* sweep_hdf5.h - the rows of a study as columns of an HDF5 file: /id, /seed, /status, /hash,
 * /seconds, and /p_NAME, /m_NAME as in the table `runs`. */
#ifndef TBI_SWEEP_HDF5_H
#define TBI_SWEEP_HDF5_H

#include "common/cli.h"
#include "tabi/tabi_study.h"

/* False: the reason was printed. */
bool tbi_sweep_write_hdf5(tabi_results *results, const char *path);

#endif
