/* fields.h - from a YAML map to a struct, by a table of its keys.
 *
 * Keys that are not in the table are errors with a suggestion, values of the wrong kind are errors
 * that name the key.  All functions keep the first error (first_error.h). */
#ifndef TBI_FIELDS_H
#define TBI_FIELDS_H

#include "io/first_error.h"
#include "io/yaml.h"

typedef enum tbi_field_kind {
  TBI_FIELD_NUMBER,       /* double, finite */
  TBI_FIELD_ANY_NUMBER,   /* double, nan and inf too: the caller looks at the range itself */
  TBI_FIELD_POSITIVE,     /* double, > 0 */
  TBI_FIELD_NOT_NEGATIVE, /* double, >= 0 */
  TBI_FIELD_SHARE,        /* double, 0 to 1 */
  TBI_FIELD_VECTOR,       /* double[3] */
  TBI_FIELD_COUNT,        /* int32_t, >= 0 */
  TBI_FIELD_BOOL,         /* true, false, on, off */
  TBI_FIELD_WORD,         /* const char *, not empty; lives as long as the tree */
  TBI_FIELD_MAP,          /* tbi_yaml_node * */
  TBI_FIELD_LIST,         /* tbi_yaml_node * */
  TBI_FIELD_NODE,         /* tbi_yaml_node *, any kind */
} tbi_field_kind;

typedef struct tbi_field {
  const char *key;
  tbi_field_kind kind;
  size_t offset; /* in the struct */
} tbi_field;

/* A table and its length. */
#define TBI_FIELDS(table) (table), sizeof(table) / sizeof *(table)

/* Fills what the map gives.  `what` begins messages, as "body 'box': " does, and may be "". */
bool tbi_fields_read(tbi_first_error *error, const tbi_yaml_node *map, const char *what,
                     const tbi_field *fields, size_t count, void *to);

/* A key with a new name. */
typedef struct tbi_renamed_key {
  const char *old, *now;
} tbi_renamed_key;

/* Gives old keys of a map their new names, so that readers know the new ones only, and warns of
 * each (warn may be NULL).  One text with both names is an error; an old name that comes from
 * another text, as an assignment does, replaces the new one. */
bool tbi_fields_rename(tbi_first_error *error, const tbi_yaml_node *map, const char *what,
                       const tbi_renamed_key *keys, size_t count, tabi_warning_fn *warn,
                       void *warn_user);

/* One value, in a map or a list; the field's offset counts from `to`. */
bool tbi_fields_one(tbi_first_error *error, const tbi_yaml_node *node, const char *what,
                    const tbi_field *field, void *to);

/* A list of exactly count numbers; `key` names it. */
bool tbi_fields_numbers(tbi_first_error *error, const tbi_yaml_node *node, const char *what,
                        const char *key, double *values, int32_t count);
/* One finite number. */
bool tbi_fields_number(tbi_first_error *error, const tbi_yaml_node *node, const char *what,
                       const char *key, double *value);
/* rpy or quat as given (either may be NULL) into a quaternion. */
bool tbi_fields_rotation(tbi_first_error *error, const tbi_yaml_node *rpy,
                         const tbi_yaml_node *quat, const char *what, double rotation[4]);

#endif
