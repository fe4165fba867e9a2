/* csv.h - a table of numbers over time, with a name for every column. */
#ifndef TBI_CSV_H
#define TBI_CSV_H

#include "tabi/tabi_control.h"

#define TBI_CSV_MAX_BYTES ((size_t)64 * 1024 * 1024)

typedef struct tbi_csv {
  char *text;         /* the file, cut at its commas and line ends */
  const char **names; /* of the columns, without that of the time */
  int32_t ncolumn, nrow;
  double *time, *value;        /* s, [nrow]; [nrow][ncolumn] */
  tabi_trajectory *trajectory; /* the caller may take it and leave NULL */
} tbi_csv;

/* The first line names the columns.  The first column is `time` in s, or a line "# rate 500"
 * before the names tells rows per second.  `blame` is to name when the file cannot be opened. */
tabi_status tbi_csv_read(const char *path, tabi_place blame, tbi_csv *csv, tabi_error *err);
void tbi_csv_free(tbi_csv *csv);

#endif
