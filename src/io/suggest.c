/* suggest.c - edit distance (optimal string alignment), three lines of its table at a time. */
#include "io/suggest.h"

#include "base/assertion.h"
#include "tabi/tabi_io.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define LONGEST 63 /* longer names are far from everything */

static size_t min3(size_t a, size_t b, size_t c) {
  size_t smaller = a < b ? a : b;
  return smaller < c ? smaller : c;
}

/* Upper and lower case count as the same letter. */
static bool same(char a, char b) { return tolower((unsigned char)a) == tolower((unsigned char)b); }

/* Letters to insert, delete, replace or swap with a neighbour to get from a to b. */
static size_t edit_distance(const char *a, const char *b) {
  size_t na = strlen(a);
  size_t nb = strlen(b);
  if (na > LONGEST || nb > LONGEST) return LONGEST;
  size_t table[3][LONGEST + 1]; // line i, for the first i letters of a, is table[i % 3]
  for (size_t j = 0; j <= nb; ++j)
    table[0][j] = j;
  for (size_t i = 1; i <= na; ++i) {
    const size_t *before = table[(i - 1) % 3];
    const size_t *second = table[(i + 1) % 3]; // line i - 2
    size_t *line = table[i % 3];
    line[0] = i;
    for (size_t j = 1; j <= nb; ++j) {
      size_t replace = before[j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1);
      line[j] = min3(replace, before[j] + 1, line[j - 1] + 1);
      bool swapped = i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]);
      if (swapped && second[j - 2] + 1 < line[j]) line[j] = second[j - 2] + 1;
    }
  }
  return table[na % 3][nb];
}

tbi_suggestion tbi_suggest_begin(const char *typed) {
  // a third of the letters may be wrong, and one in short names
  return (tbi_suggestion){.typed = typed, .distance = strlen(typed) / 3 + 2};
}

void tbi_suggest_add(tbi_suggestion *suggestion, const char *known) {
  TBI_ASSERT(known);
  size_t distance = edit_distance(suggestion->typed, known);
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

const char *tabi_nearest_name(const char *typed, const char *const *known, size_t count) {
  TBI_ASSERT(typed && (known || count == 0));
  tbi_suggestion nearest = tbi_suggest_begin(typed);
  for (size_t i = 0; i < count; ++i)
    tbi_suggest_add(&nearest, known[i]);
  return nearest.nearest;
}
