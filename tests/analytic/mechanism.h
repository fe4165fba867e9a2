/* mechanism.h - mechanisms with closed loops: connections, starts in motion, and what goes wrong.
 *
 *   scene s = scene_begin();
 *   ... links ...
 *   mechanism_connect(&s, TABI_CONNECTION_BALL, a, at_a, b, at_b);
 *   mechanism_open(&s, TABI_RK4, 1e-3);
 *   mechanism_watch watch = mechanism_begin(&s);
 *   mechanism_run(&s, &watch, 1000); */
#ifndef TEST_MECHANISM_H
#define TEST_MECHANISM_H

#include "support/near.h"
#include "support/scene_build.h"

/* A rod, spring or loop between a point of a and one of b, in their frames; its number. */
tabi_connection_def mechanism_join(tabi_connection_type type, int32_t a, v3 at_a, int32_t b,
                                   v3 at_b);
int32_t mechanism_connect(scene *s, tabi_connection_type type, int32_t a, v3 at_a, int32_t b,
                          v3 at_b);
/* Planar mechanisms lie in x and y: the two axes of the plane are held. */
int32_t mechanism_pin(scene *s, int32_t a, v3 at_a, int32_t b, v3 at_b);
/* A link on a hinge about z at `at` of its parent, with its centre and its moment about z. */
int32_t mechanism_bar(scene *s, int32_t parent, v3 at, double mass, v3 com, double moment);

void mechanism_gravity(scene *s, v3 gravity);
void mechanism_open(scene *s, tabi_integrator integrator, double timestep);
/* A link's joint of one coordinate. */
void mechanism_set(scene *s, int32_t link, double q, double v);

/* The worst since the watch began. */
typedef struct mechanism_watch {
  double start;     /* energy, J */
  double gap, turn; /* of all connections but springs, m and rad */
  double energy;    /* away from the start, J */
  double kinetic;   /* the most, J: the scale of the energy that goes to and fro */
} mechanism_watch;
mechanism_watch mechanism_begin(scene *s);
void mechanism_run(scene *s, mechanism_watch *watch, int64_t steps);

#endif
