/* limits.h - the magnitudes that a model may have.
 *
 * They are far beyond any machine, and so near that squares and products of them, as they occur
 * in dynamics, collision and contact, stay far from the largest and the smallest double.
 * docs/limits.md lists them. */
#ifndef TBI_LIMITS_H
#define TBI_LIMITS_H

#include "tabi/tabi.h"

#include <stdbool.h>

#define TBI_MAX_LENGTH      1e9   /* m, of positions and sizes */
#define TBI_MIN_SIZE        1e-12 /* m, of shapes; a sphere may have none */
#define TBI_MAX_MASS        1e18  /* kg */
#define TBI_MIN_MASS        1e-18 /* kg, of what a joint moves */
#define TBI_MAX_INERTIA     1e36  /* kg m^2 */
#define TBI_MAX_STIFFNESS   1e18 /* of stiffness, damping, friction of joints and gains, SI units */
#define TBI_MAX_RATIO       1e9  /* of gears and couplings */
#define TBI_MAX_COEFFICIENT 1e6  /* of Coulomb's law */
#define TBI_MAX_GRAVITY     1e6  /* m/s^2 */
#define TBI_MAX_SPEED       1e8  /* m/s or rad/s; more has diverged */
#define TBI_MAX_POSITION    1e12 /* m or rad; more has diverged */
#define TBI_MAX_CONTACTS    1000000 /* points that a world has memory for at most */

/* What a number of an item is called, and the limits of its size; 0 is always within. */
typedef struct tbi_limit {
  const char *what; /* "mass" */
  double max, min;
  const char *unit; /* "kg", or "" */
} tbi_limit;

/* Of which item of a model a number is: "link", its name and its place. */
typedef struct tbi_item {
  const char *kind, *name;
  tabi_place place;
} tbi_item;

/* Whether all numbers are within; else the builder's error names the first that is not. */
bool tbi_within(tabi_builder *builder, tbi_item item, tbi_limit limit, const double *x, int count);

bool tbi_link_within(tabi_builder *builder, const tabi_link_def *def);
/* Limits of position that are too far to be met become infinite. */
bool tbi_joint_within(tabi_builder *builder, tabi_joint_def *def);
bool tbi_shape_within(tabi_builder *builder, const tabi_shape_def *def);
bool tbi_mesh_within(tabi_builder *builder, const tabi_mesh_def *def);
bool tbi_surface_within(tabi_builder *builder, const tabi_material_def *def);
/* Limits that are too far to be met become infinite. */
bool tbi_tendon_within(tabi_builder *builder, tabi_tendon_def *def);
bool tbi_actuator_within(tabi_builder *builder, const tabi_actuator_def *def);
bool tbi_coupling_within(tabi_builder *builder, const tabi_coupling_def *def);
bool tbi_connection_within(tabi_builder *builder, const tabi_connection_def *def);
bool tbi_sensor_within(tabi_builder *builder, const tabi_sensor_def *def);

#endif
