/* choreonoid.h - bodies of Choreonoid (.body), as calls to a builder. */
#ifndef TBI_CHOREONOID_H
#define TBI_CHOREONOID_H

#include "io/hrp/hrp_robot.h"
#include "io/yaml.h"

/* Whether a text that is not XML seems to be one. */
bool tbi_choreonoid_is(const char *text, size_t size, const char *path);
/* Adds the robot of a text.  Files that it names are looked for beside `path`.  What is not used is
 * reported to def->warn. */
tabi_status tbi_choreonoid_load(tabi_builder *builder, const char *text, size_t size,
                                const char *path, const tabi_load_def *def, tabi_error *err);

/* --------------------------------------------- shared by choreonoid.c and choreonoid_shape.c */

/* A body that is being read. */
typedef struct tbi_choreonoid {
  tbi_hrp *hrp;
  double angle_unit; /* rad */
  char what[120];    /* "link 'a': ", for messages */
} tbi_choreonoid;

/* Where elements are: on which link, and how they look. */
typedef struct tbi_body_place {
  int32_t link;
  tbi_hrp_frame frame;
  tbi_hrp_look look;
  bool has_mass; /* some RigidBody was found */
} tbi_body_place;

/* All of these: false where the map has no such key, and after an error. */
bool tbi_body_numbers(const tbi_choreonoid *c, const tbi_yaml_node *map, const char *key,
                      double *values, int32_t count);
bool tbi_body_number(const tbi_choreonoid *c, const tbi_yaml_node *map, const char *key,
                     double *value);
/* Nine or six moments. */
bool tbi_body_inertia(const tbi_choreonoid *c, const tbi_yaml_node *map, s3 *inertia);
/* translation, rotation (one or a list of them) or rpy, and scale. */
tbi_hrp_frame tbi_body_frame(const tbi_choreonoid *c, const tbi_yaml_node *map);
const char *tbi_body_word(const tbi_yaml_node *map, const char *key);
/* Reports keys of a map that are not used; `also` is a second owner to look under, or NULL. */
void tbi_body_check(const tbi_choreonoid *c, const tbi_yaml_node *map, const char *owner,
                    const char *also);

/* A list of elements, a map of them by type, or one with a type. */
void tbi_body_elements(const tbi_choreonoid *c, const tbi_yaml_node *elements,
                       tbi_body_place *place, int32_t depth);

#endif
