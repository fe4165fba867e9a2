/* csv.c - see csv.h. */
#include "common/csv.h"

#include <string.h>

const char *tbi_csv_name(const char *name, char quoted[TBI_CSV_NAME]) {
  if (!strpbrk(name, ",\"\r\n")) return name;
  char *at = quoted;
  const char *end = quoted + TBI_CSV_NAME - 4;
  *at++ = '"';
  for (; *name != '\0' && at < end; ++name) {
    if (*name == '"') *at++ = '"';
    *at++ = *name;
  }
  *at++ = '"';
  *at = '\0';
  return quoted;
}
