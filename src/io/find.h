/* find.h - links and joints of a builder by the names that a file gives them. */
#ifndef TBI_FIND_H
#define TBI_FIND_H

#include "io/first_error.h"
#include "io/yaml.h"

/* Where names are looked up. */
typedef struct tbi_finder {
  tbi_first_error *error;
  tabi_builder *builder;
  const char *prefix; /* before all names in the builder, "robot/"; "" in a scene */
} tbi_finder;

typedef enum tbi_named { TBI_LINK, TBI_JOINT } tbi_named;

/* The index of a link or joint; TABI_NONE if there is none, and after an error. */
int32_t tbi_find(const tbi_finder *finder, tbi_named kind, const char *name);
/* "no link is called 'foo' (did you mean 'foot'?)" at a node; `also` is one more known name, or
 * NULL. */
bool tbi_find_fail(const tbi_finder *finder, tbi_named kind, const tbi_yaml_node *node,
                   const char *what, const char *name, const char *also);
/* Finds, or fails at the node. */
int32_t tbi_find_needed(const tbi_finder *finder, tbi_named kind, const tbi_yaml_node *node,
                        const char *what, const char *name);

#endif
