/* signals_find.c - see signals.h. */
#include "base/assertion.h"
#include "io/suggest.h"
#include "record/signals.h"

#include <string.h>

/* Whether a text is what a pattern says, where '*' stands for any text.  After a mismatch the last
 * star takes one letter more. */
static bool fits(const char *pattern, const char *text) {
  const char *star = NULL;
  const char *taken = text;
  while (*text) {
    if (*pattern == '*') {
      star = pattern++;
      taken = text;
    } else if (*pattern == *text) {
      ++pattern;
      ++text;
    } else if (star) {
      pattern = star + 1;
      text = ++taken;
    } else {
      return false;
    }
  }
  return pattern[strspn(pattern, "*")] == '\0';
}

/* Whether a name is the one meant, or of the group that is. */
static bool means(const char *pattern, const char *name) {
  if (strchr(pattern, '*')) return fits(pattern, name);
  size_t length = strlen(pattern);
  return strncmp(pattern, name, length) == 0 && (name[length] == '\0' || name[length] == '.');
}

/* A name without its robot's. */
static const char *own_name(const char *name) {
  const char *slash = strchr(name, '/');
  return slash ? slash + 1 : name;
}

typedef const char *name_fn(const char *name);

static int32_t choose(const tabi_signals *signals, const char *pattern, name_fn *called,
                      bool *chosen) {
  int32_t count = 0;
  for (int32_t i = 0; i < signals->count; ++i) {
    if (!means(pattern, called(signals->item[i].name))) continue;
    chosen[i] = true;
    ++count;
  }
  return count;
}

static const char *full_name(const char *name) { return name; }

int32_t tabi_signals_match(const tabi_signals *signals, const char *pattern, bool *chosen) {
  TBI_ASSERT(signals && pattern && chosen);
  if (pattern[0] == '\0') return 0;
  int32_t count = choose(signals, pattern, full_name, chosen);
  return count > 0 ? count : choose(signals, pattern, own_name, chosen);
}

const char *tabi_signals_nearest(const tabi_signals *signals, const char *name) {
  TBI_ASSERT(signals && name);
  tbi_suggestion nearest = tbi_suggest_begin(name);
  for (int32_t i = 0; i < signals->count; ++i) {
    const char *known = signals->item[i].name;
    tbi_suggest_add(&nearest, known);
    tbi_suggest_add(&nearest, own_name(known));
  }
  return nearest.nearest;
}
