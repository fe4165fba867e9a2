/* values.h - numbers of a robot's joints and links that its file does not give, or gives otherwise.
 *
 *   joints: {l_knee: {damping: 2, rotor_inertia: 2e-5, gear: 100}}
 *   links: {hand: {mass: 0.8, com: [0, 0, 0.1]}}
 *
 * The sidecar of a robot and the scene that it is in say them in the same words. */
#ifndef TBI_VALUES_H
#define TBI_VALUES_H

#include "io/find.h"

/* Which robot of the builder. */
typedef struct tbi_values {
  tbi_finder find;
  const char *what; /* begins messages: "robot 'r': ", or "" */
  int32_t first_joint, first_link;
} tbi_values;

/* Either map may be NULL.  Names that are not the robot's are errors with a suggestion. */
bool tbi_values_read_joints(const tbi_values *values, const tbi_yaml_node *map);
bool tbi_values_read_links(const tbi_values *values, const tbi_yaml_node *map);

#endif
