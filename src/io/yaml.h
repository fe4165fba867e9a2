/* yaml.h - a YAML text as a tree, with line and column of every value.
 *
 * libfyaml reads; we keep lists, maps with plain keys, and scalars, and refuse what a scene has no
 * business to contain: anchors and aliases, tags, several documents, keys given twice, nesting
 * deeper than 32, more than 8 MB or than a million values.  The tree is freed as a whole. */
#ifndef TBI_YAML_H
#define TBI_YAML_H

#include "tabi/tabi.h"

#define TBI_YAML_MAX_BYTES ((size_t)8 * 1024 * 1024)
#define TBI_YAML_MAX_DEPTH 32
#define TBI_YAML_MAX_NODES 1000000
#define TBI_YAML_MAX_KEYS  4096 /* of one map */

typedef enum tbi_yaml_kind { TBI_YAML_SCALAR, TBI_YAML_LIST, TBI_YAML_MAP } tbi_yaml_kind;

typedef struct tbi_yaml_node {
  tbi_yaml_kind kind;
  const char *key;                                    /* in a map; NULL elsewhere */
  const char *text;                                   /* of a scalar; "" where nothing is written */
  tabi_place place;                                   /* of the key, or of the value in a list */
  int32_t column;                                     /* 1-based */
  int32_t count;                                      /* children */
  struct tbi_yaml_node *parent, *first, *last, *next; /* children first..last, linked by next */
  struct tbi_yaml_node *made;                         /* the node made before this one */
} tbi_yaml_node;

typedef struct tbi_yaml tbi_yaml;

/* Parse text of the given size; `path` names it in messages. */
tabi_status tbi_yaml_parse(const char *text, size_t size, const char *path, tbi_yaml **yaml,
                           tabi_error *err);
/* The same for texts of other programs: aliases become copies of what they name, within the same
 * number of values, `<<` merges maps, and tags are ignored.  Nesting may be 64 deep. */
tabi_status tbi_yaml_parse_aliases(const char *text, size_t size, const char *path, tbi_yaml **yaml,
                                   tabi_error *err);
void tbi_yaml_destroy(tbi_yaml *yaml); /* NULL is fine */

tbi_yaml_node *tbi_yaml_root(tbi_yaml *yaml);

/* The value of a key, or NULL; also when the node is no map. */
tbi_yaml_node *tbi_yaml_child(const tbi_yaml_node *map, const char *key);

/* Takes a node out of its map or list. */
void tbi_yaml_remove(tbi_yaml_node *node);
/* Puts a node that is in none at the end of a map, where its key must be new, or list. */
void tbi_yaml_append(tbi_yaml_node *parent, tbi_yaml_node *node);

/* Changes the tree by one assignment, "bodies.box.mass=3": keys lead through maps, and through
 * lists the item's `name` or its number from 0.  What is missing in a map is added.  The value is
 * YAML itself; messages about it name the assignment as their file. */
tabi_status tbi_yaml_assign(tbi_yaml *yaml, const char *assignment, tabi_error *err);

#endif
