/* xml.h - an XML text as a tree, with the line of every element.
 *
 * expat reads; we keep elements, attributes and the text of elements without children, and refuse
 * what a robot file has no business to contain: DOCTYPE and entities, nesting deeper than 256, more
 * than 64 MB or than four million elements and attributes.  The tree lives in one arena and is
 * freed as a whole. */
#ifndef TBI_XML_H
#define TBI_XML_H

#include "io/first_error.h"
#include "tabi/tabi.h"

#define TBI_XML_MAX_BYTES ((size_t)64 * 1024 * 1024)
#define TBI_XML_MAX_DEPTH 256
#define TBI_XML_MAX_ITEMS 4000000

typedef struct tbi_xml_attribute {
  const char *name, *value;
  bool used; /* some reader asked for it; what stays false is reported as ignored */
  struct tbi_xml_attribute *next;
} tbi_xml_attribute;

typedef struct tbi_xml_node {
  const char *name;
  const char *text; /* of an element without children, without white space around it; else "" */
  tabi_place place; /* file and line of the opening tag */
  tbi_xml_attribute *attributes;
  struct tbi_xml_node *parent, *first, *last, *next; /* children first..last, linked by next */
  bool used;                                         /* some reader looked at it */
} tbi_xml_node;

typedef struct tbi_xml tbi_xml;

/* Parse text of the given size; `path` names it in messages. */
tabi_status tbi_xml_parse(const char *text, size_t size, const char *path, tbi_xml **xml,
                          tabi_error *err);
/* Read and parse a file. */
tabi_status tbi_xml_read(const char *path, tbi_xml **xml, tabi_error *err);
void tbi_xml_destroy(tbi_xml *xml); /* NULL is fine */

tbi_xml_node *tbi_xml_root(tbi_xml *xml);

/* The first child of that name, or NULL; and the next sibling of the same name. */
tbi_xml_node *tbi_xml_child(tbi_xml_node *node, const char *name);
tbi_xml_node *tbi_xml_next(tbi_xml_node *node);
/* Marks an element and all in it as used, so that nothing of it is told as ignored. */
void tbi_xml_use_all(tbi_xml_node *node);
/* An attribute's text, or NULL.  Marks it used. */
const char *tbi_xml_get(tbi_xml_node *node, const char *attribute);

/* An empty one, which only holds what is copied into it.  NULL: out of memory. */
tbi_xml *tbi_xml_create(void);
/* A copy of an element with all that is in it, held by xml, without parent and siblings.  Names and
 * values are those of the original, which must live as long.  *room counts elements down; NULL: it
 * is used up, or memory is. */
tbi_xml_node *tbi_xml_copy(tbi_xml *xml, const tbi_xml_node *node, int32_t *room);
/* Puts an element behind the children of another. */
void tbi_xml_append(tbi_xml_node *parent, tbi_xml_node *child);
/* Sets or adds an attribute, held by xml; false: out of memory. */
bool tbi_xml_set(tbi_xml *xml, tbi_xml_node *node, const char *attribute, const char *value);

/* Numbers, independent of the locale; "what" names the thing in messages ("link 'a': mass").  After
 * an error the value is as it was. */
bool tbi_xml_number(tbi_first_error *error, const char *text, tabi_place place, const char *what,
                    double *value);
/* As many numbers as there are, at most max; how many were read. */
int32_t tbi_xml_numbers(tbi_first_error *error, const char *text, tabi_place place,
                        const char *what, double *values, int32_t max);

#endif
