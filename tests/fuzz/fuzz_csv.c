/* fuzz_csv.c - any bytes as a table over time: it is refused with a message, or it can be asked
 * for any time. */
#include "file.h"

#include "io/csv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void look(const tabi_trajectory *trajectory, int32_t ncolumn) {
  static double value[4096];
  static const double times[] = {-1e300, 0, 0.001, 0.5, 1e300};
  for (size_t i = 0; i < sizeof times / sizeof *times; ++i) {
    tabi_trajectory_sample(trajectory, times[i], value, NULL);
    for (int32_t k = 0; k < ncolumn; ++k) {
      if (!isfinite(value[k])) abort();
    }
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { // NOLINT: its name, not ours
  tbi_csv csv = {0};
  tabi_error err = {0};
  const char *path = fuzz_file("x.csv", data, size);
  tabi_status status = tbi_csv_read(path, (tabi_place){NULL, 0}, &csv, &err);
  if (status != TABI_OK && (err.message[0] == '\0' || strchr(err.message, '\n'))) abort();
  if (status == TABI_OK) look(csv.trajectory, csv.ncolumn);
  tbi_csv_free(&csv);
  return 0;
}
