/* weigh.h - masses and inertias that a file leaves out, where a robot cannot move without them.
 *
 * Many published robots give some links no mass, or a mass without an inertia, because the programs
 * that they were made for do not simulate them, or put in numbers of their own.  Here a link gets
 * the mass of its shapes at the density of water, as MuJoCo does for bodies without <inertial>.
 * Only links that need it are changed, and each change is told (report.h). */
#ifndef TBI_WEIGH_H
#define TBI_WEIGH_H

#include "io/first_error.h"
#include "tabi/tabi_io.h"

/* What was added to the builder from one file. */
typedef struct tbi_weigh {
  tabi_builder *builder;
  const tabi_load_def *def;
  int32_t first_link;     /* this and all that follow */
  const bool *has_shapes; /* for each of them: the file gives it a shape, be it a missing mesh */
} tbi_weigh;

/* Gives mass to what a joint moves without any mass on it or behind it; if no link has a mass, to
 * all that move.  A link with shapes none of which can be had gets a small ball, one without any
 * shape a far smaller one.  False after an error. */
bool tbi_weigh_massless(const tbi_weigh *w, tbi_first_error *error);

/* Gives inertia to links with a mass alone, and mass to parts without any, if the robot's
 * acceleration would not be defined otherwise: of a chain of massless links whose axes meet, say.
 * Call it with a whole robot. */
bool tbi_weigh_singular(const tbi_weigh *w, tbi_first_error *error);

#endif
