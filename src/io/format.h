/* format.h - what a reader does with each element and attribute of its format.
 *
 * Every reader has one table.  docs/formats.md shows it, which a test compares, and what a file
 * holds but its reader left unread is told by it: of no consequence for the motion as a note, all
 * else, what no table knows too, as a warning. */
#ifndef TBI_FORMAT_H
#define TBI_FORMAT_H

#include "io/xml.h"
#include "tabi/tabi_io.h"

typedef enum tbi_use {
  TBI_USED,
  TBI_APPROXIMATED, /* by something near it, or in some cases only: `how` says which */
  TBI_COSMETIC,     /* ignored, with a note */
  TBI_IGNORED,      /* ignored, with a warning */
} tbi_use;

/* "limit", "joint/limit" below a joint only, "limit@effort" for an attribute; "*" is any element
 * or attribute.  The first row that fits counts. */
typedef struct tbi_format_row {
  const char *name;
  tbi_use use;
  const char *how; /* a few words for the document; NULL: none */
} tbi_format_row;

typedef struct tbi_format {
  const char *name; /* heading in the document */
  const tbi_format_row *rows;
  size_t nrow;
} tbi_format;

extern const tbi_format tbi_urdf_format;
extern const tbi_format tbi_sdf_format;
extern const tbi_format tbi_vrml_format;
extern const tbi_format tbi_body_format;
extern const tbi_format tbi_hrp_project_format;
extern const tbi_format tbi_mjcf_format;

/* The row of an element, or of one of its attributes; NULL if the table has none. */
const tbi_format_row *tbi_format_find(const tbi_format *format, const tbi_xml_node *node,
                                      const char *attribute);

/* The words of a row as a message shows them, without the document's marks. */
void tbi_format_plain(const char *how, char *text, size_t size);

/* Tells every element and attribute below root that no reader has used, once for each kind, and
 * why. Without a table (NULL) all are warnings.  What has a name space of its own (drake:diffuse)
 * is another program's, and a note unless the table says otherwise. */
void tbi_format_tell_ignored(const tbi_format *format, tbi_xml_node *root,
                             const tabi_load_def *def);

#endif
