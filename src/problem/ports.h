/* ports.h - parts of the making of a contact problem: ports and joint rows. */
#ifndef TBI_PORTS_H
#define TBI_PORTS_H

#include "problem/setup.h"

/* Where Q' of a sum starts behind its nv numbers. */
static inline int32_t tbi_loop_offset(const tbi_problem *p, int32_t cluster) {
  return p->model->nv + p->model->cluster_loop[cluster];
}

/* One port for each body in contact; cluster_loops must be known. */
void tbi_ports_number(tbi_setup *s);
/* Where the blocks of each cluster stand; false: too many ports in one. */
bool tbi_ports_place_blocks(tbi_setup *s);
/* Their Y, free velocities and blocks. */
void tbi_ports_fill(tbi_setup *s);

/* How many velocities the paths that end at two of them have in common; TABI_NONE: none. */
int32_t tbi_paths_shared(const tabi_model *model, int32_t a, int32_t b);

/* Fills cluster, Y, T, base, w and inverse of every row from its dof. */
void tbi_rows_fill(tbi_setup *s);

#endif
