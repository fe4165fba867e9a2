/* suggest.h - "did you mean": the known name nearest to a mistyped one. */
#ifndef TBI_SUGGEST_H
#define TBI_SUGGEST_H

#include <stddef.h>

typedef struct tbi_suggestion {
  const char *typed;
  const char *nearest; /* NULL: none is near */
  size_t distance;     /* what the next must stay below */
} tbi_suggestion;

#define TBI_HINT_SIZE 96

tbi_suggestion tbi_suggest_begin(const char *typed);
/* Offers a known name; the string must live as long as the suggestion. */
void tbi_suggest_add(tbi_suggestion *suggestion, const char *known);
/* " (did you mean 'gravity'?)", or "" when nothing is near; written to and returns `hint`. */
const char *tbi_suggest_hint(const tbi_suggestion *suggestion, char hint[TBI_HINT_SIZE]);

#endif
