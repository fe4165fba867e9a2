/* vrml.h - a VRML 2.0 text as a tree of nodes, with the line of everything.
 *
 * The reader knows the syntax and no node by name: a field is its name with the numbers, strings or
 * nodes that follow.  DEF and USE, PROTO with its defaults and IS are understood; events and routes
 * are skipped.  Files larger than 32 MB, nesting deeper than 256 and trees of more than four
 * million nodes and fields are refused.  The tree is freed as a whole. */
#ifndef TBI_VRML_H
#define TBI_VRML_H

#include "tabi/tabi.h"

#define TBI_VRML_MAX_BYTES ((size_t)32 * 1024 * 1024)
#define TBI_VRML_MAX_DEPTH 256
#define TBI_VRML_MAX_ITEMS 4000000

typedef enum tbi_vrml_kind {
  TBI_VRML_EMPTY,   /* [] or NULL */
  TBI_VRML_NUMBERS, /* TRUE is 1, FALSE is 0 */
  TBI_VRML_STRINGS,
  TBI_VRML_NODES,
  TBI_VRML_IS, /* in the body of a PROTO: strings[0] names a field of the PROTO */
} tbi_vrml_kind;

typedef struct tbi_vrml_field {
  const char *name;
  tabi_place place;
  tbi_vrml_kind kind;
  int32_t count;
  union {
    const double *numbers;
    const char *const *strings;
    struct tbi_vrml_node *const *nodes;
  } of;
  struct tbi_vrml_field *next;
} tbi_vrml_field;

typedef struct tbi_vrml_proto tbi_vrml_proto;

typedef struct tbi_vrml_node {
  const char *type; /* "Transform" */
  const char *name; /* by DEF; NULL: none */
  tabi_place place;
  const tbi_vrml_proto *proto; /* that declares the type; NULL: none in this file */
  tbi_vrml_field *fields;
  int32_t height; /* of the tree below it, USE included; 1 for a leaf */
} tbi_vrml_node;

typedef struct tbi_vrml tbi_vrml;

/* Whether a text says that it is VRML, of any version. */
bool tbi_vrml_is(const char *text, size_t size);
/* Parse text of the given size; `path` names it in messages. */
tabi_status tbi_vrml_parse(const char *text, size_t size, const char *path, tbi_vrml **vrml,
                           tabi_error *err);
void tbi_vrml_destroy(tbi_vrml *vrml); /* NULL is fine */

/* The nodes at the top of the file. */
const tbi_vrml_field *tbi_vrml_top(const tbi_vrml *vrml);

/* A field of a node, or its default in the node's PROTO; NULL where neither gives one. */
const tbi_vrml_field *tbi_vrml_get(const tbi_vrml_node *node, const char *field);

/* The first node of the body of a node's PROTO, with the values of this node; NULL if it has no
 * PROTO, or one without a body. */
tabi_status tbi_vrml_expand(tbi_vrml *vrml, const tbi_vrml_node *node,
                            const tbi_vrml_node **expanded, tabi_error *err);

#endif
