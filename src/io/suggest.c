/* suggest.c - edit distance, one row of the table at a time. */
#include "io/suggest.h"

#include <stdio.h>
#include <string.h>

#define LONGEST 63 /* longer names are far from everything */

static size_t least(size_t a, size_t b, size_t c) {
  size_t smaller = a < b ? a : b;
  return smaller < c ? smaller : c;
}

/* Letters to insert, delete or replace to get from a to b. */
static size_t distance_between(const char *a, const char *b) {
  size_t na = strlen(a);
  size_t nb = strlen(b);
  if (na > LONGEST || nb > LONGEST) return LONGEST;
  size_t row[LONGEST + 1];
  for (size_t j = 0; j <= nb; ++j)
    row[j] = j;
  for (size_t i = 1; i <= na; ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= nb; ++j) {
      size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = least(replaced, row[j] + 1, row[j - 1] + 1);
    }
  }
  return row[nb];
}

tbi_suggestion tbi_suggest_begin(const char *typed) {
  // a third of the letters may be wrong, and one in short names
  return (tbi_suggestion){.typed = typed, .distance = strlen(typed) / 3 + 2};
}

void tbi_suggest_add(tbi_suggestion *suggestion, const char *known) {
  size_t distance = distance_between(suggestion->typed, known);
  if (distance >= suggestion->distance || distance >= strlen(known)) return;
  suggestion->distance = distance;
  suggestion->nearest = known;
}

const char *tbi_suggest_hint(const tbi_suggestion *suggestion, char hint[TBI_HINT_SIZE]) {
  hint[0] = '\0';
  if (suggestion->nearest) {
    (void)snprintf(hint, TBI_HINT_SIZE, " (did you mean '%.60s'?)", suggestion->nearest);
  }
  return hint;
}
