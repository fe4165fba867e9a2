/* find.c - names with a prefix, and suggestions for those that are not found. */
#include "io/find.h"

#include "base/assertion.h"
#include "base/text.h"
#include "io/suggest.h"
#include "model/builder.h"

#include <stdlib.h>
#include <string.h>

int32_t tbi_find(const tbi_finder *finder, tbi_named kind, const char *name) {
  TBI_ASSERT(finder->builder && finder->prefix && name);
  char *full = tbi_text_join(finder->prefix, name);
  if (!full) {
    tbi_fail_memory(finder->error);
    return TABI_NONE;
  }
  int32_t found = kind == TBI_JOINT ? tabi_builder_find_joint(finder->builder, full)
                                    : tabi_builder_find_link(finder->builder, full);
  free(full);
  return found;
}

static const char *name_of(const tabi_builder *builder, tbi_named kind, int32_t index) {
  return kind == TBI_JOINT ? tbi_builder_joint(builder, index)->name
                           : tbi_builder_link(builder, index)->name;
}

bool tbi_find_fail(const tbi_finder *finder, tbi_named kind, const tbi_yaml_node *node,
                   const char *what, const char *name, const char *also) {
  const tabi_builder *builder = finder->builder;
  size_t prefix = strlen(finder->prefix);
  tbi_suggestion nearest = tbi_suggest_begin(name);
  if (also) tbi_suggest_add(&nearest, also);
  int32_t count = kind == TBI_JOINT ? tabi_builder_njoint(builder) : tabi_builder_nlink(builder);
  for (int32_t i = 0; i < count; ++i) {
    const char *known = name_of(builder, kind, i);
    if (known && strncmp(known, finder->prefix, prefix) == 0)
      tbi_suggest_add(&nearest, known + prefix);
  }
  char hint[TBI_HINT_SIZE];
  return tbi_fail_about(finder->error, node->place, what, "no %s is called '%.60s'%s",
                        kind == TBI_JOINT ? "joint" : "link", name,
                        tbi_suggest_hint(&nearest, hint));
}

int32_t tbi_find_needed(const tbi_finder *finder, tbi_named kind, const tbi_yaml_node *node,
                        const char *what, const char *name) {
  TBI_ASSERT(node && name);
  int32_t found = tbi_find(finder, kind, name);
  if (found == TABI_NONE) tbi_find_fail(finder, kind, node, what, name, NULL);
  return tbi_ok(finder->error) ? found : TABI_NONE;
}
